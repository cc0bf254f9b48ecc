# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What mock chips cannot do to an allocator, and program L1 of every kind.

The fake chip has 4 workers. Sharded buffers of 8192 bytes stand on two of them: in lock step they take
4096 bytes of every bank, with addresses of their own (HYBRID mode) of two banks only.
"""

from fake_host import FakeHost, check_steps
from support import command
from support.waiting import eventually

WORKERS = 4
CAPACITY = WORKERS * (1499136 - 35168 - 70656)
#: As `ttmem doctor` calls what the fake runtime has not.
MISSING = ["mesh_initialized", "program_known"]


def wait_for_audit(pid):
    """What is said of the record once an audit has found a difference."""
    def differs():
        tracking = command.process_of(pid)["tracking"]
        return tracking if tracking["exact"] is False else None
    return eventually(differs, "an audit finds the difference")


def check(step, process):
    device = process["devices"][0]
    l1, program_l1 = device["l1"], device["program_l1"]
    taken = {"sharded": WORKERS * 4096, "per core": WORKERS * 4096 + 2 * 4096}.get(step, 0)
    assert process["tracking"]["hooks_missing"] == MISSING, step
    assert l1["taken"] == taken, step
    assert l1["requested"] == {"sharded": 8192, "per core": 16384}.get(step, 0), step
    shrunk = WORKERS * 65536 if step == "shrunk" else 0
    assert l1["capacity"] == CAPACITY - shrunk, step
    if step == "program L1 of every kind":
        assert program_l1["resident"] == WORKERS * (8192 + 4096 + 192), step
        assert program_l1["reserved"] == WORKERS * (8192 + 4096 + 192), step
    if step == "reshaped":
        assert device["dram"]["taken"] == 4096 + 20480, step
    if step in ("cleared", "freed after the clear"):
        assert device["dram"]["taken"] == 0, step
    if step == "state overridden":
        tracking = wait_for_audit(process["pid"])
        assert tracking["difference_bytes"] == WORKERS * -1024, step
    else:
        assert process["tracking"]["anomalies"] == {}, step


def test_every_step():
    check_steps(FakeHost("memory"), check, count=10)
