# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The original's own test, as its users ran it, on a stock ttnn: a program with fabric kernels beside
`ttmem events --follow --format legacy | grep KERNEL_LOAD`."""

import re

import oracle
from support import command

PROGRAM = """
import os, sys, ttnn
ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
a = ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
b = ttnn.add(a, a)
os.write(1, ('{"checkpoint":"running","pid":%d}\\n' % os.getpid()).encode())
sys.stdin.readline()
ttnn.close_mesh_device(device)
"""
LOAD = re.compile(r"\[KERNEL_LOAD\] (Application|Fabric|Dispatch) kernel on Device (\d+): \+([0-9.]+) MB")


def loads_in(lines):
    for line in lines:
        if found := LOAD.search(line):
            yield found.group(1), int(found.group(2)), float(found.group(3))


BACKTRACE = re.compile(r"KERNEL_LOAD Backtrace \(Device (\d+), .*Cores: (\d+), .*ID: (0x[0-9a-f]+)\)")


def cores_told():
    """Of each program on each device, in the original's lines."""
    lines = command.text("events", "--format", "legacy", "--detail").splitlines()
    found = [each for line in lines if (each := BACKTRACE.search(line))]
    return sorted((int(each.group(1)), each.group(3), int(each.group(2))) for each in found)


def cores_known():
    programs = command.document("status", "--programs")["programs"]
    return sorted((device, program["id"], program["cores"]) for program in programs
                  for device in program["devices"] if program["loaded"])


def test_every_load_is_told_when_it_happens():
    python = oracle.setup("python", "10")
    values = oracle.environment("n300")
    points = 0
    with command.started("events", "--follow", "--format", "legacy") as follow, \
            oracle.running([python, "-c", PROGRAM], values) as client:
        for point in client.checkpoints():
            points += 1
            told = loads_in(follow.stdout)
            loads = [next(told) for _ in range(4)]
            kinds = sorted((kind, device) for kind, device, _ in loads)
            assert kinds == [("Application", 0), ("Application", 1), ("Fabric", 0), ("Fabric", 1)]
            assert all(size > 0 for _, _, size in loads)
            assert str(point["pid"]) in command.text("status")
            assert cores_told() == cores_known()
    assert points == 1
