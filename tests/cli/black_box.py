# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A process that was killed no longer counts, and what it held stays readable."""

import os
import signal
import unittest

from harness import command


def ended(pid):
    for process in command.document("status")["processes"]:
        if process["pid"] == pid and not process["alive"]:
            return process
    return None


class BlackBox(command.TestCase):
    def test_killed_process(self):
        with command.workload("--processes", "2") as workload:
            victim, survivor = workload.pids
            before = command.document("status")["devices"][0]
            os.kill(victim, signal.SIGKILL)
            dead = command.eventually(lambda: ended(victim), "the process is seen as dead")
            after = command.document("status")["devices"][0]
            for space in ("dram", "l1"):
                self.assertEqual(2 * after[space]["taken"], before[space]["taken"])
            self.assertEqual(dead["ended"], "died")
            self.assertEqual(dead["devices"][0]["dram"]["requested"], 26_214_400)

            text = command.text("status")
            self.assertRegex(text, r"ttmem-demo-1 \(\d+\) of \S+ died")
            self.assertIn("held on device 0: DRAM 25.0 MiB in 1 buffer", text)

            # Without its pid only the living are listed.
            self.assertEqual({h["pid"] for h in command.document("dump")["holdings"]}, {survivor})
            held = command.document("dump", "--pid", str(victim))["holdings"]
            self.assertEqual(sorted(h["requested"] for h in held if h["kind"] == "buffer"),
                             [1_048_576, 26_214_400])
            self.assertTrue(all(not h["alive"] for h in held))
            programs = command.document("status", "--programs")["programs"]
            self.assertEqual([p["pid"] for p in programs], [survivor] * 3)
            self.assertIn("program_loaded", command.text("events", "--pid", str(victim)))
            self.assertIn(f"Removed 2 buffers (26 MB) from PID {victim}",
                          command.text("events", "--format", "legacy"))

    def test_gc_removes_the_dead_only_when_told(self):
        with command.workload("--processes", "2") as workload:
            os.kill(workload.pids[0], signal.SIGKILL)
            command.eventually(lambda: ended(workload.pids[0]), "the process is seen as dead")
            self.assertIn("removed 0 segments", command.text("gc"))
            self.assertIn("would remove 1 segment", command.text("gc", "--all", "--dry-run"))
            self.assertIsNotNone(ended(workload.pids[0]))
            self.assertIn("removed 1 segment", command.text("gc", "--all"))
            self.assertIsNone(ended(workload.pids[0]))
            self.assertEqual(len(command.document("status")["processes"]), 1)

    def test_a_clean_end_is_no_death(self):
        with command.workload() as workload:
            pid = workload.pids[0]
            os.kill(pid, signal.SIGINT)
            self.assertEqual(workload.process.wait(command.DEADLINE_SECONDS), 0)
            self.assertEqual(ended(pid)["ended"], "closed")


if __name__ == "__main__":
    unittest.main()
