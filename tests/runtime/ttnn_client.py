# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A client of the real ttnn on mock chips; runs in a Python that has ttnn.

Prints one line of JSON a checkpoint, with what ttnn says about its memory, and waits for a line.
"""

import json
import os
import sys
import threading

import ttnn

SPACES = {
    "dram": ttnn.BufferType.DRAM,
    "l1": ttnn.BufferType.L1,
    "l1_small": ttnn.BufferType.L1_SMALL,
    "trace": ttnn.BufferType.TRACE,
}
L1_SMALL_BYTES = 16384


def view(device, space):
    values = ttnn.get_memory_view(device, space)
    return {
        "banks": values.num_banks,
        "bank_bytes": values.total_bytes_per_bank,
        "allocated": values.total_bytes_allocated_per_bank,
        "largest_free": values.largest_contiguous_bytes_free_per_bank,
    }


def checkpoint(name, device):
    point = {"checkpoint": name, "pid": os.getpid(), "open": device is not None}
    if device is not None:
        point["chips"] = list(device.get_device_ids())
        point.update({label: view(device, space) for label, space in SPACES.items()})
    print(json.dumps(point, separators=(",", ":")), flush=True)
    sys.stdin.readline()


def tensor(device, shape, memory=ttnn.DRAM_MEMORY_CONFIG, layout=ttnn.TILE_LAYOUT):
    return ttnn.empty(shape, ttnn.bfloat16, layout, device, memory)


def sharded(layout, cores, shape, buffer=ttnn.BufferType.L1):
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(*cores))})
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(layout, buffer, spec)


def nd_sharded(cores, shape):
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(*cores))})
    spec = ttnn.NdShardSpec(ttnn.Shape(shape), grid)
    return ttnn.MemoryConfig(ttnn.BufferType.L1, spec)


def must_fail(action):
    try:
        action()
    except RuntimeError:
        return
    raise SystemExit("an allocation that cannot fit did not fail")


def allocate(device, kept):
    layouts = ttnn.TensorMemoryLayout
    kept["dram"] = tensor(device, (1024, 1024))
    kept["l1"] = tensor(device, (256, 256), ttnn.L1_MEMORY_CONFIG)
    checkpoint("interleaved", device)
    kept["height"] = tensor(device, (128, 64), sharded(layouts.HEIGHT_SHARDED, (3, 0), (32, 64)))
    checkpoint("height sharded", device)
    kept["width"] = tensor(device, (64, 128), sharded(layouts.WIDTH_SHARDED, (3, 0), (64, 32)))
    checkpoint("width sharded", device)
    kept["block"] = tensor(device, (128, 128), sharded(layouts.BLOCK_SHARDED, (3, 3), (32, 32)))
    checkpoint("block sharded", device)
    kept["nd"] = tensor(device, (2, 96, 64), nd_sharded((2, 1), (1, 32, 32)))
    checkpoint("nd sharded", device)
    in_dram = sharded(layouts.WIDTH_SHARDED, (3, 0), (32, 32), ttnn.BufferType.DRAM)
    kept["dram sharded"] = tensor(device, (32, 128), in_dram)
    checkpoint("dram sharded", device)
    kept["odd"] = tensor(device, (7, 10), layout=ttnn.ROW_MAJOR_LAYOUT)
    kept["odd l1"] = tensor(device, (3, 100), ttnn.L1_MEMORY_CONFIG, ttnn.ROW_MAJOR_LAYOUT)
    checkpoint("odd pages", device)
    small = sharded(layouts.HEIGHT_SHARDED, (3, 0), (1, 2), ttnn.BufferType.L1_SMALL)
    kept["small"] = tensor(device, (4, 2), small, ttnn.ROW_MAJOR_LAYOUT)
    checkpoint("l1_small", device)
    thread = threading.Thread(target=lambda: kept.update(thread=tensor(device, (512, 512))))
    thread.start()
    thread.join()
    checkpoint("second thread", device)


def compute(device, kept):
    """Shapes that also fit the smaller grids of chips with two harvested rows."""
    a = kept["dram"]
    kept["sum"] = ttnn.add(a, a)
    kept["softmax"] = ttnn.softmax(a)
    big = tensor(device, (448, 448))
    kept["product"] = ttnn.matmul(big, big)
    checkpoint("operations", device)
    for _ in range(3):
        kept["sum"] = ttnn.add(a, a)
    checkpoint("cached operations", device)


def fail(device):
    must_fail(lambda: tensor(device, (1 << 19, 1 << 18)))
    shape = (32 * 40, 32 * 20)
    layout = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    must_fail(lambda: tensor(device, shape, sharded(layout, (0, 0), shape)))
    checkpoint("out of memory", device)


def open_mesh(rows, columns):
    return ttnn.open_mesh_device(ttnn.MeshShape(rows, columns), l1_small_size=L1_SMALL_BYTES)


def main(rows, columns, fabric):
    if fabric:
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    device = open_mesh(rows, columns)
    checkpoint("open", device)
    kept = {}
    allocate(device, kept)
    if not os.environ.get("TTMEM_WITHOUT_OPERATIONS"):
        compute(device, kept)
    fail(device)
    for name in ("l1", "block", "dram sharded", "softmax"):
        if name in kept:
            ttnn.deallocate(kept.pop(name))
    checkpoint("deallocated", device)
    device.clear_program_cache()
    checkpoint("program cache cleared", device)
    ttnn.close_mesh_device(device)
    checkpoint("closed", None)
    kept.clear()
    device = open_mesh(rows, columns)
    checkpoint("reopened", device)
    again = tensor(device, (64, 64))
    checkpoint("allocated again", device)
    del again
    ttnn.close_mesh_device(device)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3)
