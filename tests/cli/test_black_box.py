# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A process that was killed no longer counts, and what it held stays readable."""

import os
import re
import signal

from support import command
from support.waiting import DEADLINE_SECONDS, eventually


def ended(pid):
    process = command.process_of(pid)
    return process if process and not process["alive"] else None


def test_killed_process():
    with command.workload("--processes", "2") as workload:
        victim, survivor = workload.pids
        before = command.document("status")["devices"][0]
        os.kill(victim, signal.SIGKILL)
        dead = eventually(lambda: ended(victim), "the process is seen as dead")
        after = command.document("status")["devices"][0]
        for space in ("dram", "l1"):
            assert 2 * after[space]["taken"] == before[space]["taken"]
        assert dead["ended"] == "died"
        assert dead["devices"][0]["dram"]["requested"] == 26_214_400

        text = command.text("status")
        assert re.search(r"ttmem-demo-1 \(\d+\) of \S+ died", text)
        assert "held on device 0: DRAM 25.0 MiB in 1 buffer" in text

        # Without its pid only the living are listed.
        assert {h["pid"] for h in command.document("dump")["holdings"]} == {survivor}
        held = command.document("dump", "--pid", str(victim))["holdings"]
        sizes = sorted(h["requested"] for h in held if h["kind"] == "buffer")
        assert sizes == [1_048_576, 26_214_400]
        assert all(not h["alive"] for h in held)
        programs = command.document("status", "--programs")["programs"]
        assert [p["pid"] for p in programs] == [survivor] * 3
        assert "program_loaded" in command.text("events", "--pid", str(victim))
        log = command.text("events", "--format", "legacy")
        assert f"Removed 2 buffers (26 MB) from PID {victim}" in log


def test_gc_removes_the_dead_only_when_told():
    with command.workload("--processes", "2") as workload:
        os.kill(workload.pids[0], signal.SIGKILL)
        eventually(lambda: ended(workload.pids[0]), "the process is seen as dead")
        assert "removed 0 segments" in command.text("gc")
        assert "would remove 1 segment" in command.text("gc", "--all", "--dry-run")
        assert ended(workload.pids[0]) is not None
        assert "removed 1 segment" in command.text("gc", "--all")
        assert ended(workload.pids[0]) is None
        assert len(command.document("status")["processes"]) == 1


def test_a_clean_end_is_no_death():
    with command.workload() as workload:
        pid = workload.pids[0]
        os.kill(pid, signal.SIGINT)
        assert workload.process.wait(DEADLINE_SECONDS) == 0
        assert ended(pid)["ended"] == "closed"
