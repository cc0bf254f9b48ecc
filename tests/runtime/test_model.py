# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A decoder under pytest, four data-parallel copies on a T3K: every device shows the same.

All four devices have kernels and equal program L1, no kernel load is of 0 bytes, and the second
iteration, whose programs are cached, changes nothing.
"""

import json
import os
import re

import oracle

HERE = os.path.dirname(os.path.realpath(__file__))
FIGURES = (("kernels", "application"), ("program_l1",), ("dram", "taken"), ("l1", "taken"))


def figures_of(device):
    values = []
    for path in FIGURES:
        value = device
        for key in path:
            value = value[key]
        values.append(value)
    return json.dumps(values, sort_keys=True)


def empty_loads(pid):
    """KERNEL_LOAD lines of the original's log that load nothing."""
    lines = oracle.ttmem("events", "--format", "legacy", "--pid", str(pid)).splitlines()
    loads = [line for line in lines if "[KERNEL_LOAD]" in line]
    return len(loads), [line for line in loads if re.search(r": \+0 MB", line)]


def test_all_devices_and_both_iterations_are_equal():
    python = oracle.setup("python", "10")
    command = [python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir", HERE,
               "--noconftest", os.path.join(HERE, "model_client.py")]
    iterations = []
    with oracle.running(command, oracle.environment("t3k")) as client:
        for point in client.checkpoints():
            process = oracle.process_of(point["pid"])
            devices = [d for d in process["devices"] if d["metal_id"] in point["chips"]]
            assert len(devices) == 4 and all(d["in_mesh"] for d in devices)
            assert all(d["kernels"]["application"]["footprint"] for d in devices)
            assert len({figures_of(d) for d in devices}) == 1, "the devices differ"
            iterations.append(figures_of(devices[0]))
            count, empty = empty_loads(point["pid"])
            assert count and not empty
    assert len(iterations) == 2
    assert iterations[0] == iterations[1]
