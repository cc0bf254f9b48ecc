# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What mock chips skip: dispatch kernels, binaries in DRAM, the ring, traces, slow launches.

The fake chip has 4 workers; a program of K kernel bytes runs on all of them and takes K + 208 bytes
of the ring; its binaries take whole pages of 2048 bytes in DRAM.
"""

import sys

from fake_host import Comparison, FakeHost

comparison = Comparison()
equal = comparison.equal


def check(step, process):
    device = process["devices"][0]
    kernels = device["kernels"]
    contradictions = {}
    tensix = [r for r in device.get("rings", []) if r["core_type"] == "tensix"]
    if step == "open":
        equal(step, "unique id", device["unique_id"], "0x5aa5000000000007")
        equal(step, "DRAM", device["dram"]["taken"], 4096)
        equal(step, "kernels", kernels["total"]["footprint"], 0)
    elif step == "system kernels":
        equal(step, "dispatch footprint", kernels["dispatch"]["footprint"], 4 * 5000)
        equal(step, "fabric footprint", kernels["fabric"]["footprint"], 4 * 3000)
        equal(step, "application footprint", kernels["application"]["footprint"], 0)
    elif step == "first load":
        equal(step, "footprint", kernels["application"]["footprint"], 4 * 20000)
        equal(step, "in DRAM", kernels["in_dram"], 20480)
        equal(step, "DRAM", device["dram"]["taken"], 4096 + 20480)
        equal(step, "program L1", device["program_l1"]["resident"], 4 * 8192)
        equal(step, "first loads", kernels["first_loads"], 1)
        equal(step, "ring", tensix[0]["used"], 20208)
        equal(step, "source of the ring", tensix[0]["source"], "observed")
    elif step == "cache hit":
        equal(step, "footprint", kernels["application"]["footprint"], 4 * 20000)
        equal(step, "cache hits", kernels["cache_hits"], 1)
        equal(step, "ring", tensix[0]["used"], 2 * 20208)
    elif step == "second program":
        equal(step, "footprint", kernels["application"]["footprint"], 4 * 50000)
        equal(step, "program L1", device["program_l1"]["resident"], 4 * 4096)
        equal(step, "reserved", device["program_l1"]["reserved"], 4 * 8192)
    elif step == "captured":
        equal(step, "dispatches", kernels["dispatches"], 3)
        equal(step, "program L1", device["program_l1"]["resident"], 4 * 4096)
    elif step == "replayed twice":
        equal(step, "program L1 is the trace's peak", device["program_l1"]["resident"], 4 * 8192)
        equal(step, "ring is full", tensix[0]["used"], 70656)
    elif step == "too large for the ring":
        equal(step, "failures", len(process["failures"]), 1)
        equal(step, "kind", process["failures"][0]["kind"], "ring_too_small")
        equal(step, "footprint", kernels["application"]["footprint"], 4 * 50000)
    elif step == "slow launches":
        equal(step, "footprint", kernels["application"]["footprint"], 4 * 51000)
        equal(step, "dispatches", kernels["dispatches"], 5)
    elif step == "dispatch kernel outside its scope":
        equal(step, "dispatch footprint", kernels["dispatch"]["footprint"], 4 * 5000)
        equal(step, "footprint: it was not launched", kernels["application"]["footprint"], 4 * 51000)
        contradictions = {"kind_by_source": 1}
    elif step == "closed within a capture":
        equal(step, "dispatches", kernels["dispatches"], 6)
        equal(step, "rings", device["rings"], [])
        contradictions = {"kind_by_source": 1}
    elif step == "closed":
        equal(step, "footprint", kernels["total"]["footprint"], 0)
        contradictions = {"kind_by_source": 1}
    equal(step, "anomalies", process["tracking"]["anomalies"], contradictions)


sys.exit(comparison.run(FakeHost("steps"), check, steps=12))
