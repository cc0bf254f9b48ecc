# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A small model on real ttnn and mock chips. At each step it prints what the views say about this
process and what the runtime's own allocator says.

    ttnn_workload.py HOW ROWS COLUMNS

HOW says who brings the hooks: `run` (whoever started this), `ahead` (track() before ttnn is loaded),
`patched` (after), `late` (after devices were opened and tensors made).
"""

import json
import os
import sys

import ttmem
from ttmem import command

how, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
answers = []
if how == "ahead":
    answers.append(ttmem.track())

import ttnn  # noqa: E402

if how == "patched":
    answers.append(ttmem.track())

SPACES = {
    "dram": ttnn.BufferType.DRAM,
    "l1": ttnn.BufferType.L1,
    "l1_small": ttnn.BufferType.L1_SMALL,
    "trace": ttnn.BufferType.TRACE,
}


def oracle(device):
    if device is None:
        return {name: 0 for name in SPACES}
    views = {name: ttnn.get_memory_view(device, kind) for name, kind in SPACES.items()}
    return {
        name: view.num_banks * view.total_bytes_allocated_per_bank for name, view in views.items()
    }


def process():
    """This process as it records itself; None before it does, whatever others know of it."""
    known = command.document("status")["processes"]
    mine = [one for one in known if one["pid"] == os.getpid() and one["segment"]]
    return mine[0] if mine else None


def step(name, device):
    line = {"step": name, "oracle": oracle(device), "process": process()}
    if line["process"]:
        line["self"] = {
            str(metal_id): dict(figures._asdict())
            for metal_id, figures in ttmem.figures.collect(ttmem.figures.taken).items()
        }
    print(json.dumps(line), flush=True)


def tensor(device, shape, memory):
    return ttnn.ones(
        shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory
    )


def main():
    device = ttnn.open_mesh_device(ttnn.MeshShape(rows, columns), l1_small_size=16384)
    step("open", device)
    a = tensor(device, (512, 512), ttnn.DRAM_MEMORY_CONFIG)
    b = tensor(device, (512, 512), ttnn.L1_MEMORY_CONFIG)
    step("tensors", device)
    if how == "late":
        answers.append(ttmem.track())
        step("attached", device)
    c = ttnn.add(a, a)
    step("add", device)
    d = ttnn.softmax(c, dim=-1)
    step("softmax", device)
    e = ttnn.add(a, a)
    step("add again", device)
    ttnn.deallocate(b)
    ttnn.deallocate(d)
    step("two freed", device)
    device.disable_and_clear_program_cache()
    step("cache cleared", device)
    for one in (a, c, e):
        ttnn.deallocate(one)
    step("all freed", device)
    ttnn.close_mesh_device(device)
    step("closed", None)
    answers.append(ttmem.track())
    print(json.dumps({"answers": [one.how for one in answers], "slots": answers[0].slots}))


main()
