# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Programs, traces, the ring and clashes, recorded by a process and read from outside."""

import os
import subprocess
import time
import unittest

from harness import command

HOST = os.path.join(os.environ["TTMEM_TEST_PROGRAMS"], "program_host")
WORKERS, L1_BYTES, PROGRAM_BASE = 110, 1_572_864, 111_616
PARTS = ("fixed", "ring", "program_l1", "gaps", "free", "buffers", "l1_small")
DRAM, L1, L1_SMALL = 0, 1, 3


class Programs(command.TestCase):
    def setUp(self):
        super().setUp()
        self.host = subprocess.Popen([HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=True)
        self.addCleanup(self.end)
        self.assertEqual(self.host.stdout.readline(), "ok\n")

    def end(self):
        self.host.stdin.close()
        self.host.wait(command.DEADLINE_SECONDS)
        self.host.stdout.close()

    def tell(self, *lines):
        for line in lines:
            self.host.stdin.write(line + "\n")
            self.host.stdin.flush()
            self.assertEqual(self.host.stdout.readline(), "ok\n", line)

    def device(self):
        return command.document("status")["devices"][0]

    def resident(self):
        return self.device()["program_l1"]["resident"]

    def three_programs(self):
        self.tell("program 1 4096 171 5000", "program 2 32768 171 5000", "program 3 4096 205 700")

    def test_registered_programs_count_no_kernel_byte(self):
        self.three_programs()
        device = self.device()
        self.assertEqual(device["kernels"]["registered"], 3)
        self.assertEqual(device["kernels"]["total"], {"count": 0, "programs": 0, "footprint": 0})
        self.assertEqual(device["program_l1"], {
            "resident": 0, "reserved": WORKERS * 32_768, "allocated": WORKERS * 40_960,
            "peak": 0, "count": 3})
        self.assertIn("3 programs registered", command.text("status"))
        self.assertEqual(command.text("status", "--programs").count("registered"), 3)

    def test_launches_are_told_by_program(self):
        self.three_programs()
        self.tell("launch 1", "launch 2", "launch 2", "ring 1 40000", "ring 2 40000",
                  "ring 1 40000", "launch 1", f"buffer 50 {DRAM} 1048704 8192", "binaries 1 50")
        time.sleep(0.05)  # launches are told to the tick of a coarse clock
        self.tell("launch 2")
        device = self.device()
        kernels = device["kernels"]
        self.assertEqual(kernels["total"]["footprint"], WORKERS * 10_000)
        self.assertEqual(kernels["unique_bytes"], 5_000)  # both have the same code
        self.assertEqual(kernels["in_dram"], 8 * 8_192)
        told = [kernels[name] for name in ("dispatches", "first_loads", "reloads", "cache_hits")]
        self.assertEqual(told, [5, 2, 1, 2])
        ring = device["ring"]
        self.assertEqual((ring["source"], ring["capacity"], ring["used"]),
                         ("simulated", 70_656, 40_000))
        self.assertEqual((ring["evictions"], ring["reloads"], ring["headroom"]), (2, 1, 30_656))
        one, two, three = command.document("status", "--programs")["programs"]
        self.assertEqual([p["dispatches"] for p in (one, two, three)], [2, 3, 0])
        self.assertEqual([p["cache_hits"] for p in (one, two, three)], [0, 2, 0])
        self.assertEqual(one["reloads"], 1)
        self.assertLess(two["first_dispatch_ns"], two["last_dispatch_ns"])
        seconds = (two["last_dispatch_ns"] - two["first_dispatch_ns"]) / 1e9
        self.assertAlmostEqual(two["dispatches_per_second"] * seconds, 2, places=3)
        self.assertIsNone(three["first_dispatch_ns"])
        self.assertEqual(three["footprint"], 0)

    def test_a_trace_is_the_peak_of_its_members(self):
        self.three_programs()
        self.tell("launch 1", "launch 2", "launch 3")
        self.assertEqual(self.resident(), 450_560)
        self.tell("trace 7 1 2 3")
        self.assertEqual(self.resident(), 450_560)
        self.tell("replay 7")
        self.assertEqual(self.resident(), 3_604_480)
        self.assertIn("CB 0 of op2 in trace 7", command.text("status", "--core", "0,0"))
        self.tell("launch 1")
        self.assertEqual(self.resident(), 450_560)
        self.tell("replay 7", "release 2")  # the trace still needs it
        self.assertEqual(self.resident(), 3_604_480)
        self.tell("end 7")
        self.assertEqual(self.resident(), 450_560)
        self.assertEqual(self.device()["program_l1"]["peak"], 3_604_480)

    def test_cores_add_up_to_the_byte_and_to_the_device(self):
        self.three_programs()
        self.tell("launch 2", f"buffer 50 {L1} 1500000 40064", f"buffer 51 {L1_SMALL} 1572800 64")
        device = self.device()
        cores = command.document("status", "--cores")["devices"][0]["cores"]
        self.assertEqual(len(cores), WORKERS + 1)
        for core in cores:
            self.assertEqual(sum(core[part] for part in PARTS), L1_BYTES, core)
        for part, figure in (("program_l1", device["program_l1"]["resident"]),
                             ("reserved", device["program_l1"]["reserved"]),
                             ("buffers", device["l1"]["taken"]),
                             ("buffers_occupied", device["l1"]["occupied"]),
                             ("l1_small_taken", device["l1_small"]["taken"]),
                             ("kernel_footprint", device["kernels"]["total"]["footprint"])):
            self.assertEqual(sum(core[part] for core in cores), figure, part)

    def test_a_clash_names_both_sides(self):
        self.three_programs()
        self.tell("launch 1", f"buffer 60 {L1} 112000 40000")
        headroom = 112_000 - PROGRAM_BASE - 4_096
        self.assertEqual(self.device()["headroom"], {
            "min": headroom, "min_reserved": 112_000 - PROGRAM_BASE - 32_768,
            "core": {"type": "tensix", "x": 0, "y": 0}})
        self.assertEqual(self.resident(), WORKERS * (112_000 - PROGRAM_BASE))
        self.assertIn("Clash       -3.6 KiB at core 0,0", command.text("status"))
        who = {"program": "op1", "buffer": "tensor60", "process": "program_host",
               "pid": self.host.pid}
        cores = command.document("status", "--cores")["devices"][0]["cores"]
        self.assertEqual([core["clash"] for core in cores], [who] * WORKERS + [None])
        text = f"op1 and tensor60 of program_host ({self.host.pid})"
        self.assertEqual(command.text("status", "--cores").count(text), WORKERS)
        self.assertIn(text, command.text("status", "--device", "0", "--core", "3,4"))
        self.tell(f"free 60 {L1}")
        self.assertNotIn("Clash", command.text("status") + command.text("status", "--cores"))


if __name__ == "__main__":
    unittest.main()
