# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Commands that go on until they are stopped: --watch and --follow; and the demonstration's life."""

import json
import os
import signal

from support import command
from support.waiting import DEADLINE_SECONDS, eventually, is_gone


def stop(process):
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_SECONDS) == 0


def test_watch_prints_again_and_ends_with_ctrl_c():
    with command.started("status", "--watch", "0.1") as watch:
        frames = 0
        while frames < 3:
            frames += watch.stdout.readline().startswith("ttmem status at ")
        stop(watch)


def test_follow_sees_a_load_when_it_happens():
    with command.started("events", "--follow", "--format", "legacy", "--detail") as follow:
        with command.workload():
            lines = [follow.stdout.readline() for _ in range(3)]
        stop(follow)
    assert lines[0].startswith(
        "🔍 KERNEL_LOAD Backtrace (Device 0, Type: Fabric, Binary Size: 56 KB, Cores: 16, "
        "Total L1: 896 KB, ID"
    )
    assert lines[1] == "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.875 MB (Total: 0.875 MB)\n"
    assert "Type: Dispatch, Binary Size: 46 KB, Cores: 2, Total L1: 92 KB" in lines[2]


def test_events_are_told_once_and_in_order():
    with command.workload("--devices", "2"):
        events = [json.loads(line) for line in command.text("events", "--json").splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds.count("program_loaded") == 3
    assert kinds.count("buffer_allocated") == 2
    assert kinds.count("gap") == 0
    numbers = [event["number"] for event in events if event["number"] is not None]
    assert numbers == sorted(numbers)
    loads = [event for event in events if event["event"] == "program_loaded"]
    totals = [[device["kernels_footprint"] for device in load["devices"]] for load in loads]
    assert totals == [[917_504] * 2, [1_011_712] * 2, [9_203_712] * 2]


def test_busy_workload_keeps_its_sums():
    with command.workload("--scenario", "busy", "--processes", "2", "--devices", "4"):
        for _ in range(5):
            snapshot = command.document("status")
            living = [p for p in snapshot["processes"] if p["alive"]]
            assert len(living) == 2
            for device in snapshot["devices"]:
                parts = [d for p in living for d in p["devices"] if d["id"] == device["id"]]
                for space in ("dram", "l1", "l1_small", "trace"):
                    for each in ("taken", "requested", "count"):
                        assert device[space][each] == sum(part[space][each] for part in parts)
            for process in living:
                assert process["tracking"]["anomalies"] == {}
                assert process["tracking"]["unrecorded"] == 0


def test_children_of_the_demonstration_die_with_it():
    with command.started("demo", "--processes", "3", "--hold", "600") as demo:
        pids = command.Workload(demo).pids
        assert len(pids) == 3
        os.kill(demo.pid, signal.SIGKILL)
        eventually(lambda: all(is_gone(pid) for pid in pids), "all are gone")
