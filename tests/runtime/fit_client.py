# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Makes tensors of random shapes on real ttnn and tells what each took in a bank; runs in a Python that
has ttnn. Prints one line of JSON a tensor: what was asked for, and `block` as get_memory_view shows it;
null where the runtime refuses such a tensor."""

import json
import math
import random
import sys

import ttnn

TYPES = ("bfloat16", "float32", "uint32", "int32", "uint16", "uint8", "bfloat8_b", "bfloat4_b", "fp8_e4m3")
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
    if case["memory"] == "l1" and generator.random() < 0.6:
        case.update(random_shards(generator, shape, layout))
    return case


def random_shards(generator, shape, layout):
    """Shards that mostly cover the tensor; some have a length that the runtime refuses, or lie on more
    cores than there are."""
    kind = generator.choice(("height", "width", "block", "nd"))
    grid = (8, 8) if generator.random() < 0.6 else (generator.randint(1, 16), generator.randint(1, 11))
    if kind == "nd":
        return {"shard": kind, "grid": grid, "shard_shape": nd_shard(generator, shape, layout)}
    cores = grid[0] * grid[1]
    rows, columns = {"height": (cores, 1), "width": (1, cores), "block": (grid[1], grid[0])}[kind]
    unit = 32 if layout == "tile" else 1
    height = -(-(shape[-2] if len(shape) > 1 else 1) // unit) * unit * math.prod(shape[:-2])
    lengths = [-(-height // rows) + (rows > 1) * generator.randint(0, 8),
               -(-shape[-1] // columns) + (columns > 1) * generator.randint(0, 8)]
    lengths = [-(-length // unit) * unit for length in lengths]
    if generator.random() < 0.3:
        lengths[generator.randint(0, 1)] = generator.choice((1, 2, 30, 32, 33, 64))
    return {"shard": kind, "grid": grid, "shard_shape": lengths}


def nd_shard(generator, shape, layout):
    lengths = [generator.randint(1, each) for each in shape]
    if layout == "tile" and generator.random() < 0.7:
        lengths[-2:] = [-(-each // 32) * 32 for each in lengths[-2:]]
    return lengths


def config(case):
    buffer = SPACES[case["memory"]]
    if "shard" not in case:
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, buffer)
    end = ttnn.CoreCoord(*(length - 1 for length in case["grid"]))
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), end)})
    if case["shard"] == "nd":
        return ttnn.MemoryConfig(buffer, ttnn.NdShardSpec(case["shard_shape"], grid))
    spec = ttnn.ShardSpec(grid, case["shard_shape"], ttnn.ShardOrientation.ROW_MAJOR)
    kind = getattr(ttnn.TensorMemoryLayout, f"{case['shard'].upper()}_SHARDED")
    return ttnn.MemoryConfig(kind, buffer, spec)


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
