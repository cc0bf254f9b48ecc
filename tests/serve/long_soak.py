# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""For minutes processes come and go, readers ask, and `ttmem gc` removes: the daemon keeps neither memory nor descriptors."""

import os
import re
import time

from daemon import workload
from support import command

SECONDS = int(os.environ.get("TTMEM_SOAK_SECONDS", "180"))
PATHS = ("/api/v1/snapshot", "/metrics", "/api/v1/holdings", "/api/v1/programs", "/")
GROWTH_KB = 4096  # the history of another minute, and what the allocator of libc keeps


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def rounds_for(daemon, seconds):
    """How often a workload came and went, with a reader that stays and readers that come."""
    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        with workload():
            stream = daemon.stream()
            stream.until(lambda each: each.snapshot is not None)
            assert [daemon.ask(path)[0] for path in PATHS] == [200] * len(PATHS)
            stream.close()
        command.text("gc", "--all")
        rounds += 1
    return rounds


def test_nothing_is_kept_of_what_is_gone(daemons):
    daemon = daemons()
    pid = daemon.process.pid
    assert rounds_for(daemon, SECONDS / 2) > 0
    before, open_before = resident_kb(pid), descriptors(pid)
    rounds = rounds_for(daemon, SECONDS / 2)
    after, open_after = resident_kb(pid), descriptors(pid)
    print(f"{rounds} workloads: from {before} to {after} kB, from {open_before} to {open_after} descriptors")
    assert after - before <= GROWTH_KB
    # A connection that was closed just now may still be there.
    assert open_after <= open_before + 2
