# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Two different runtimes in one process: each call reaches the runtime of its caller, as without hooks. The
first one is recorded, the second is not, and the process says so."""

import os
import sys

from fake_host import FakeHost, run

PROGRAM = os.path.join(os.environ["TTMEM_TEST_PROGRAMS"], "ttmem_two_runtimes")
LIBRARIES = os.environ["TTMEM_FAKE_RUNTIMES"].split(":")

failures = []


def equal(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got!r}, expected {expected!r}")


equal("without hooks", run(*LIBRARIES, program=PROGRAM, tracked=False)[:2], (0, "3 2\n"))
host = FakeHost(*LIBRARIES, program=PROGRAM)
count = 0
for line, process in host.steps():
    count += 1
    equal("allocations of each runtime", line, "3 2")
    equal("DRAM of the first", process["devices"][0]["dram"]["taken"], 3 * 4096)
    equal("anomalies", process["tracking"]["anomalies"], {"second_runtime": 1})
equal("exit code", host.child.returncode, 0)
equal("steps", count, 1)
print("two runtimes told apart")
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
