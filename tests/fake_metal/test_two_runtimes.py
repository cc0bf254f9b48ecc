# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Two different runtimes in one process: each call reaches the runtime of its caller, as without hooks. The
first one is recorded, the second is not, and the process says so."""

import os

from fake_host import FOLDER, RUNTIME, FakeHost, check_steps, run
from support import built

PROGRAM = built.program("ttmem_two_runtimes")
LIBRARIES = (RUNTIME, os.path.join(FOLDER, "second", "libtt_metal.so"))


def test_it_runs_without_hooks():
    assert run(*LIBRARIES, program=PROGRAM, tracked=False)[:2] == (0, "3 2\n")


def test_two_runtimes_are_told_apart():
    def check(step, process):
        assert step == "3 2", "allocations of each runtime"
        assert process["devices"][0]["dram"]["taken"] == 3 * 4096, "of the first"
        assert process["tracking"]["anomalies"] == {"second_runtime": 1}

    check_steps(FakeHost(*LIBRARIES, program=PROGRAM), check, count=1)
