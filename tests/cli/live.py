# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Commands that go on until they are stopped: --watch and --follow; and the demonstration's life."""

import json
import os
import signal
import subprocess
import unittest

from harness import command


class Live(command.TestCase):
    def start(self, *arguments):
        process = subprocess.Popen([command.TTMEM, *arguments], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, command.DEADLINE_SECONDS)
        self.addCleanup(process.kill)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(command.DEADLINE_SECONDS), 0)

    def test_watch_prints_again_and_ends_with_ctrl_c(self):
        watch = self.start("status", "--watch", "0.1")
        frames = 0
        while frames < 3:
            frames += watch.stdout.readline().startswith("ttmem status at ")
        self.stop(watch)

    def test_follow_sees_a_load_when_it_happens(self):
        follow = self.start("events", "--follow", "--format", "legacy", "--detail")
        with command.workload():
            lines = [follow.stdout.readline() for _ in range(3)]
        self.assertEqual(lines[0].split(", ID")[0],
                         "🔍 KERNEL_LOAD Backtrace (Device 0, Type: Fabric, Binary Size: 56 KB, "
                         "Cores: 16, Total L1: 896 KB")
        self.assertEqual(lines[1], "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.875 MB "
                                   "(Total: 0.875 MB)\n")
        self.assertIn("Type: Dispatch, Binary Size: 46 KB, Cores: 2, Total L1: 92 KB", lines[2])
        self.stop(follow)

    def test_events_are_told_once_and_in_order(self):
        with command.workload("--devices", "2"):
            events = [json.loads(line) for line in command.text("events", "--json").splitlines()]
        kinds = [event["event"] for event in events]
        self.assertEqual(kinds.count("program_loaded"), 3)
        self.assertEqual(kinds.count("buffer_allocated"), 2)
        self.assertEqual(kinds.count("gap"), 0)
        numbers = [event["number"] for event in events if event["number"] is not None]
        self.assertEqual(numbers, sorted(numbers))
        loads = [event for event in events if event["event"] == "program_loaded"]
        totals = [[device["kernels_footprint"] for device in load["devices"]] for load in loads]
        self.assertEqual(totals, [[917_504] * 2, [1_011_712] * 2, [9_203_712] * 2])

    def test_busy_workload_keeps_its_sums(self):
        with command.workload("--scenario", "busy", "--processes", "2", "--devices", "4"):
            for _ in range(5):
                snapshot = command.document("status")
                living = [p for p in snapshot["processes"] if p["alive"]]
                self.assertEqual(len(living), 2)
                for device in snapshot["devices"]:
                    parts = [d for p in living for d in p["devices"] if d["id"] == device["id"]]
                    for space in ("dram", "l1", "l1_small", "trace"):
                        for each in ("taken", "requested", "count"):
                            self.assertEqual(device[space][each],
                                             sum(part[space][each] for part in parts))
                for process in living:
                    self.assertEqual(process["tracking"]["anomalies"], {})
                    self.assertEqual(process["tracking"]["unrecorded"], 0)

    def test_children_of_the_demonstration_die_with_it(self):
        demo = self.start("demo", "--processes", "3", "--hold", "120")
        pids = command.Workload(demo).pids
        self.assertEqual(len(pids), 3)
        os.kill(demo.pid, signal.SIGKILL)
        command.eventually(lambda: all(command.is_gone(pid) for pid in pids), "all are gone")


if __name__ == "__main__":
    unittest.main()
