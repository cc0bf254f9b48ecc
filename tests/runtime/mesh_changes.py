# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A T3K whose mesh is reshaped and divided, and a collective operation on it: after every step each chip
holds what the runtime says, and each program of the collective is on its one chip."""

import json
import os
import sys

import oracle

HERE = os.path.dirname(os.path.realpath(__file__))


def check_collective(pid, chips, failures):
    text = oracle.ttmem("dump", "--kind", "program", "--json", "--pid", str(pid))
    programs = [p for p in json.loads(text)["holdings"] if p["type"] == "application"]
    gathers = [p for p in programs if "AllGather" in (p["name"] or p["operation"] or "")]
    places = sorted(tuple(p["devices"]) for p in gathers)
    if places != sorted((chip,) for chip in chips):
        failures.append(f"programs of the collective are on {places}")


def check_fabric(process, failures):
    for device in process["devices"]:
        fabric = device["kernels"]["fabric"]
        if fabric["programs"] != 1 or not fabric["footprint"]:
            failures.append(f"chip {device['metal_id']}: fabric {fabric}")


def main():
    python = oracle.setup("python", "10")
    values = oracle.environment("t3k", None, PYTHONPATH=HERE)
    comparison = oracle.Comparison("T3K: reshaped, gathered, divided")
    client = oracle.Client([python, os.path.join(HERE, "mesh_client.py")], values, os.getcwd())
    failures = []
    names = []
    for point in client.checkpoints():
        names.append(point["checkpoint"])
        process = comparison.check(point)
        if process is None:
            failures.append(f"{names[-1]}: the process is not recorded")
            continue
        if process["tracking"]["anomalies"] or process["tracking"]["exact"] is False:
            failures.append(f"{names[-1]}: {process['tracking']}")
        if names[-1] == "gathered":
            check_collective(point["pid"], point["chips"], failures)
            check_fabric(process, failures)
    code = client.end()
    exact = comparison.report()
    if code != 0 or len(names) != 6:
        failures.append(f"the program ended with {code} after {names}")
    for failure in failures:
        print("FAILED:", failure)
    return 0 if exact and not failures else 1


sys.exit(main())
