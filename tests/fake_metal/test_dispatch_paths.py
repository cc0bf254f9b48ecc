# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What mock chips skip: dispatch kernels, binaries in DRAM, the ring, traces, slow launches.

The fake chip has 4 workers; a program of K kernel bytes runs on all of them and takes K + 208 bytes
of the ring; its binaries take whole pages of 2048 bytes in DRAM.
"""

from fake_host import FakeHost, check_steps

from support import command


def check_trace_region(process):
    """The region has 4 banks of 4,096 bytes, a trace of 8,192 bytes is in it, and all need 20,480."""
    failure, = process["failures"]
    assert (failure["kind"], failure["space"]) == ("out_of_memory", "trace")
    found = command.document("explain")
    assert found["verdict"] == "trace_region"
    assert "the traces need 20,480 B, it has 16,384 B" in found["headline"]
    total = found["sum"]
    assert (total["held"], total["holes"], total["bank"]) == (2048, 2048, 4096)
    cure, = found["cures"]
    assert (cure["kind"], cure["value"]) == ("trace_region_size", 20480)


def check(step, process):
    device = process["devices"][0]
    kernels = device["kernels"]
    contradictions = {}
    tensix = [r for r in device.get("rings", []) if r["core_type"] == "tensix"]
    if step == "open":
        assert device["unique_id"] == "0x5aa5000000000007", step
        assert device["dram"]["taken"] == 4096, step
        assert kernels["total"]["footprint"] == 0, step
    elif step == "system kernels":
        assert kernels["dispatch"]["footprint"] == 4 * 5000, step
        assert kernels["fabric"]["footprint"] == 4 * 3000, step
        assert kernels["application"]["footprint"] == 0, step
    elif step == "first load":
        assert kernels["application"]["footprint"] == 4 * 20000, step
        assert kernels["in_dram"] == 20480, step
        assert device["dram"]["taken"] == 4096 + 20480, step
        assert device["program_l1"]["resident"] == 4 * 8192, step
        assert kernels["first_loads"] == 1, step
        assert tensix[0]["used"] == 20208, step
        assert tensix[0]["source"] == "observed", step
    elif step == "cache hit":
        assert kernels["application"]["footprint"] == 4 * 20000, step
        assert kernels["cache_hits"] == 1, step
        assert tensix[0]["used"] == 2 * 20208, step
    elif step == "second program":
        assert kernels["application"]["footprint"] == 4 * 50000, step
        assert device["program_l1"]["resident"] == 4 * 4096, step
        assert device["program_l1"]["reserved"] == 4 * 8192, step
    elif step == "captured":
        assert kernels["dispatches"] == 3, step
        assert device["program_l1"]["resident"] == 4 * 4096, step
    elif step == "replayed twice":
        programs = command.document("status", "--programs")["programs"]
        replays = [each["replays"] for each in programs if each["type"] == "application"]
        assert replays == [2, 2], "a replay is a launch of each member"
        assert device["program_l1"]["resident"] == 4 * 8192, step
        assert tensix[0]["used"] == 70656, step
    elif step == "too large for the trace region":
        check_trace_region(process)
    elif step == "too large for the ring":
        assert [each["kind"] for each in process["failures"]] == ["out_of_memory", "ring_too_small"], step
        assert command.document("explain")["verdict"] == "ring", step
        assert kernels["application"]["footprint"] == 4 * 50000, step
    elif step == "slow launches":
        assert kernels["application"]["footprint"] == 4 * 51000, step
        assert kernels["dispatches"] == 5, step
    elif step == "dispatch kernel outside its scope":
        assert kernels["dispatch"]["footprint"] == 4 * 5000, step
        assert kernels["application"]["footprint"] == 4 * 51000, step
        contradictions = {"kind_by_source": 1}
    elif step == "closed within a capture":
        assert kernels["dispatches"] == 6, step
        assert device["rings"] == [], step
        contradictions = {"kind_by_source": 1}
    elif step == "closed":
        assert kernels["total"]["footprint"] == 0, step
        contradictions = {"kind_by_source": 1}
    assert process["tracking"]["anomalies"] == contradictions, step


def test_every_step():
    check_steps(FakeHost("steps"), check, count=13)
