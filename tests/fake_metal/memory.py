# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What mock chips cannot do to an allocator, and program L1 of every kind.

The fake chip has 4 workers. Sharded buffers of 8192 bytes stand on two of them: in lock step they take
4096 bytes of every bank, with addresses of their own (HYBRID mode) of two banks only.
"""

import sys
import time

from fake_host import Comparison, FakeHost, status

WORKERS = 4
CAPACITY = WORKERS * (1499136 - 35168 - 70656)
AUDITS_SECONDS = 10
#: As `ttmem doctor` calls what the fake runtime has not.
MISSING = ["mesh_initialized", "program_known"]

comparison = Comparison()
equal = comparison.equal


def wait_for_audit(pid):
    """The process once an audit has found a difference, or as it is in the end."""
    for _ in range(AUDITS_SECONDS * 10):
        process = status(pid)
        if process["tracking"]["exact"] is False:
            break
        time.sleep(0.1)
    return process


def check(step, process):
    device = process["devices"][0]
    l1, program_l1 = device["l1"], device["program_l1"]
    taken = {"sharded": WORKERS * 4096, "per core": WORKERS * 4096 + 2 * 4096}.get(step, 0)
    equal(step, "hooks missing", process["tracking"]["hooks_missing"], MISSING)
    equal(step, "L1 taken", l1["taken"], taken)
    equal(step, "L1 requested", l1["requested"], {"sharded": 8192, "per core": 16384}.get(step, 0))
    shrunk = WORKERS * 65536 if step == "shrunk" else 0
    equal(step, "L1 capacity", l1["capacity"], CAPACITY - shrunk)
    if step == "program L1 of every kind":
        equal(step, "resident", program_l1["resident"], WORKERS * (8192 + 4096 + 192))
        equal(step, "reserved", program_l1["reserved"], WORKERS * (8192 + 4096 + 192))
    if step == "reshaped":
        equal(step, "DRAM taken", device["dram"]["taken"], 4096 + 20480)
    if step in ("cleared", "freed after the clear"):
        equal(step, "DRAM taken", device["dram"]["taken"], 0)
    if step == "state overridden":
        tracking = wait_for_audit(process["pid"])["tracking"]
        equal(step, "exact", tracking["exact"], False)
        equal(step, "ours less theirs", tracking["difference_bytes"], WORKERS * -1024)
    else:
        equal(step, "anomalies", process["tracking"]["anomalies"], {})


sys.exit(comparison.run(FakeHost("memory"), check, steps=10))
