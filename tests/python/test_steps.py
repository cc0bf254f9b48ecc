# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem.step()`: an event in the segment of a process that is recorded, and nothing in another one."""


def test_steps_are_events_of_the_process(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        from ttmem import command
        Chip()
        for _ in range(3):
            ttmem.step()
        for event in command.documents("events"):
            if event["event"] == "step":
                print(event["count"])
    """
    assert in_process(code).split() == ["1", "2", "3"]


def test_a_process_that_nobody_records_may_call_it(in_process):
    code = """
        import os
        import ttmem
        ttmem.step()
        print(os.listdir(os.environ["TTMEM_DIR"]))
    """
    assert in_process(code) == "[]\n"


def test_a_child_counts_its_own_steps(in_process):
    code = """
        import os
        import ttmem
        from fake_chip import Chip
        from ttmem import command
        Chip()
        ttmem.step()
        ttmem.step()
        child = os.fork()
        if child == 0:
            Chip()
            ttmem.step()
            os._exit(0)
        os.waitpid(child, 0)
        print(sorted((event["pid"] == child, event["count"]) for event in command.documents("events")
                     if event["event"] == "step"))
    """
    assert in_process(code) == "[(False, 1), (False, 2), (True, 1)]\n"
