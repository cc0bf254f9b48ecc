# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A block of a program that records itself, and what can be read of it."""

RECORDED = """
    import ttmem
    from fake_chip import Chip
    chip = Chip()
    chip.allocate(1, 4096)
    with ttmem.record("block.ttm") as recording:
        chip.allocate(2, 8192)
        chip.free(2)
        chip.allocate(3, 4096)
    recording = ttmem.open("block.ttm")
"""


def test_a_block_is_recorded_and_read_at_any_moment(in_process):
    code = RECORDED + """
    dram = lambda at: recording.snapshot(at)["devices"][0]["dram"]["taken"] // 12
    print(dram("start"), dram("peak"), dram("end"))
    print([event["event"] for event in recording.events()][-3:])
    print(sorted(holding["block"] for holding in recording.holdings("peak")))
    series = list(recording.series())
    assert [time for time, _ in series] == sorted(time for time, _ in series)
    print(max(most for _, most in series) // 12, recording.summary()["missed"])
    import os
    print(oct(os.stat("block.ttm").st_mode & 0o777))
    """
    assert in_process(code).splitlines() == [
        "4096 12288 8192",
        "['buffer_allocated', 'buffer_freed', 'buffer_allocated']",
        "[4096, 8192]",
        "12288 0",
        "0o600",
    ]


def test_what_is_no_recording_and_what_may_not_be_replaced(in_process):
    code = RECORDED + """
    try:
        ttmem.open("nothing.ttm")
    except RuntimeError:
        print("refused")
    try:
        with ttmem.record("block.ttm"):
            print("never")
    except RuntimeError as reason:
        print("remove it" in str(reason))
    with ttmem.record("block.ttm", force=True):
        pass
    """
    assert in_process(code).splitlines() == ["refused", "True"]


def test_a_process_that_is_not_tracked_is_told_how_to_be(in_process):
    code = """
    import os
    import ttmem
    for attempt in (1, 2):  # no file of the first is in the way of the second
        try:
            with ttmem.record("block.ttm"):
                pass
        except RuntimeError as reason:
            print("ttmem.track()" in str(reason), os.path.exists("block.ttm"))
    """
    assert in_process(code).splitlines() == ["True False"] * 2


def test_what_a_recorded_block_raises_is_not_hidden(in_process):
    code = """
    import ttmem
    try:
        with ttmem.record("block.ttm"):
            raise MemoryError("out of memory")
    except MemoryError as reason:
        print(reason)
    """
    assert in_process(code).splitlines() == ["out of memory"]
