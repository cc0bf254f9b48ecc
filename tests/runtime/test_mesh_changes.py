# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A T3K whose mesh is reshaped and divided, and a collective operation on it: after every step each chip
holds what the runtime says, and each program of the collective is on its one chip."""

import json
import os

import oracle

HERE = os.path.dirname(os.path.realpath(__file__))


def check_collective(pid, chips):
    text = oracle.ttmem("dump", "--kind", "program", "--json", "--pid", str(pid))
    programs = [p for p in json.loads(text)["holdings"] if p["type"] == "application"]
    gathers = [p for p in programs if "AllGather" in (p["name"] or p["operation"] or "")]
    assert sorted(tuple(p["devices"]) for p in gathers) == sorted((chip,) for chip in chips)


def check_fabric(process):
    for device in process["devices"]:
        fabric = device["kernels"]["fabric"]
        assert fabric["programs"] == 1 and fabric["footprint"], f"chip {device['metal_id']}"


def test_reshaped_gathered_and_divided():
    python = oracle.setup("python", "10")
    values = oracle.environment("t3k", PYTHONPATH=HERE)
    comparison = oracle.Comparison("T3K: reshaped, gathered, divided")
    names = []
    with oracle.running([python, os.path.join(HERE, "mesh_client.py")], values) as client:
        for point in client.checkpoints():
            names.append(point["checkpoint"])
            process = comparison.check(point)
            assert process["tracking"]["anomalies"] == {}, names[-1]
            assert process["tracking"]["exact"] is not False, names[-1]
            if names[-1] == "gathered":
                check_collective(point["pid"], point["chips"])
                check_fabric(process)
    assert len(names) == 6, names
    comparison.must_agree()
