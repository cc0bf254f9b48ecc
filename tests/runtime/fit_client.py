# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Makes tensors of random shapes on real ttnn and tells what each took in a bank; runs in a Python that
has ttnn. Prints one line of JSON a tensor: what was asked for, and `block` as get_memory_view shows it;
null where the runtime refuses such a tensor."""

import json
import random
import sys

import ttnn

TYPES = ("bfloat16", "float32", "uint32", "int32", "uint16", "uint8", "bfloat8_b", "bfloat4_b")
SPACES = {"dram": ttnn.BufferType.DRAM, "l1": ttnn.BufferType.L1}


def held(device, memory):
    return ttnn.get_memory_view(device, SPACES[memory]).total_bytes_allocated_per_bank


def random_case(generator):
    dimensions = generator.randint(1, 4)
    shape = [generator.randint(1, 5) for _ in range(dimensions - 2)]
    shape += [generator.choice((1, 7, 31, 32, 33, 100, 128, 257, 500)) for _ in range(min(dimensions, 2))]
    dtype = generator.choice(TYPES)
    block_format = dtype.startswith("bfloat") and dtype.endswith("_b")
    layout = "tile" if block_format else generator.choice(("tile", "row_major"))
    case = {"shape": shape, "dtype": dtype, "layout": layout, "memory": generator.choice(("dram", "l1"))}
    if len(shape) == 2 and case["memory"] == "l1" and generator.random() < 0.6:
        case.update(random_shards(generator, shape, layout))
    return case


def random_shards(generator, shape, layout):
    """Height shards on 8 x 8 cores, large enough that 64 of them cover the tensor."""
    height = -(-shape[0] // 64) + generator.randint(0, 8)
    width = shape[1]
    if layout == "tile":
        height, width = -(-height // 32) * 32, -(-width // 32) * 32
    return {"shard": "height", "shard_shape": [height, width], "grid": 64}


def config(case):
    buffer = SPACES[case["memory"]]
    if "shard" not in case:
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, buffer)
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})
    spec = ttnn.ShardSpec(grid, case["shard_shape"], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, buffer, spec)


def block(device, case):
    layout = ttnn.TILE_LAYOUT if case["layout"] == "tile" else ttnn.ROW_MAJOR_LAYOUT
    before = held(device, case["memory"])
    try:
        tensor = ttnn.empty(case["shape"], getattr(ttnn, case["dtype"]), layout, device, config(case))
    except RuntimeError:
        return None
    taken = held(device, case["memory"]) - before
    ttnn.deallocate(tensor)
    return taken


chip = ttnn.open_device(device_id=0)
source = random.Random(int(sys.argv[2]))
for _ in range(int(sys.argv[1])):
    wanted = random_case(source)
    print(json.dumps({**wanted, "block": block(chip, wanted)}), flush=True)
ttnn.close_device(chip)
