# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The original's own test, as its users ran it, on a stock ttnn: a program with fabric kernels beside
`ttmem events --follow --format legacy | grep KERNEL_LOAD`."""

import os
import re
import subprocess
import sys

import oracle

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


def main():
    python = oracle.setup("python", "10")
    values = oracle.environment("n300", None)
    follow = subprocess.Popen(
        [os.environ["TTMEM_BIN"], "events", "--follow", "--format", "legacy"],
        stdout=subprocess.PIPE, text=True,
    )
    client = oracle.Client([python, "-c", PROGRAM], values, os.getcwd())
    failures = []
    for point in client.checkpoints():
        loads = []
        for line in follow.stdout:
            found = LOAD.search(line)
            if found:
                print(line.rstrip())
                loads.append((found.group(1), int(found.group(2)), float(found.group(3))))
            if len(loads) == 4:
                break
        kinds = sorted((kind, device) for kind, device, _ in loads)
        expected = [("Application", 0), ("Application", 1), ("Fabric", 0), ("Fabric", 1)]
        if kinds != expected:
            failures.append(f"loads {kinds}")
        if not all(size > 0 for _, _, size in loads):
            failures.append("a load of 0 bytes")
        if str(point["pid"]) not in oracle.ttmem("status"):
            failures.append("ttmem status does not show the program")
    code = client.end()
    follow.terminate()
    follow.wait()
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures or code else 0


sys.exit(main())
