# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem fit` against the allocator of the stock runtime: random tensors, to the byte."""

import json
import os
import subprocess

import pytest

import oracle
from support import command
from support.built import LIBRARY, SOURCE, TTMEM

CLIENT = os.path.join(oracle.HERE, "fit_client.py")
COUNT, SEED = 400, 16


def cases(board):
    done = subprocess.run([oracle.setup("python", "10"), CLIENT, str(COUNT), str(SEED)], capture_output=True,
                          text=True, check=True, env=oracle.environment(board))
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def words(lengths):
    return ",".join(str(each) for each in lengths)


def ours(board, asked):
    """What the command says about all of them; those with shards are asked for one by one."""
    plain = [each for each in asked if "shard" not in each]
    with open("tensors.json", "w", encoding="utf-8") as file:
        json.dump(plain, file)
    done = command.run("fit", "--file", "tensors.json", "--board", board, "--json")
    told = iter(json.loads(done.stdout)["tensors"])
    for each in asked:
        if "shard" not in each:
            yield next(told)["block"]
            continue
        one = command.run("fit", "--shape", words(each["shape"]), "--dtype", each["dtype"], "--layout",
                          each["layout"], "--memory", "l1", "--shard", each["shard"], "--shard-shape",
                          words(each["shard_shape"]), "--grid", words(each["grid"]), "--board", board, "--json")
        yield json.loads(one.stdout)["tensors"][0]["block"]


@pytest.mark.parametrize("board", ["n150", "p150"])
def test_random_tensors_take_what_is_foretold(board):
    asked = cases(board)
    assert len(asked) == COUNT
    compared = refused = 0
    for case, block in zip(asked, ours(board, asked)):
        if case["block"] is None and "shard" not in case:
            continue
        assert block == case["block"], case
        compared += 1
        refused += block is None
    print(f"{board}: {compared} of {COUNT} tensors compared, all equal; {refused} were refused by both")
    assert compared > COUNT // 2 and refused > 10


EMPTY = """
import json
import ttnn
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG
for l1_small, trace in ((0, 0), (65, 196609)):
    device = ttnn.open_device(device_id=0, l1_small_size=l1_small, trace_region_size=trace)
    for space, memory in (("l1", L1), ("dram", DRAM)):
        view = ttnn.get_memory_view(device, getattr(ttnn.BufferType, space.upper()))
        held = ttnn.empty((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory)
        print(json.dumps([space, l1_small, trace, view.num_banks, view.total_bytes_per_bank, held.buffer_address()]))
    ttnn.close_device(device)
"""


@pytest.mark.parametrize("board", ["n150", "p150", "p300"])
def test_an_empty_device_is_as_the_runtime_opens_it(board):
    done = subprocess.run([oracle.setup("python", "10"), "-c", EMPTY], capture_output=True, text=True,
                          check=True, env=oracle.environment(board))
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(rows) == 4
    for space, l1_small, trace, banks, bank_bytes, address in rows:
        found = command.document("fit", "--shape", "64,64", "--memory", space, "--board", board,
                                 "--l1-small", str(l1_small), "--trace-region", str(trace))
        filled, = found["spaces"]
        assert (filled["banks"], filled["free_before"]) == (banks, bank_bytes)
        assert found["tensors"][0]["address"] == address, (space, l1_small, trace)


PROGRAM = """
import json
import ttmem
import ttnn
device = ttnn.open_device(device_id=0)
held = ttnn.empty((40 * 512, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
answer = ttmem.fit((40 * 512, 1024), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                   memory_config=ttnn.L1_MEMORY_CONFIG, device=0)
too_much = ttmem.fit((50 * 512, 1024), memory_config="l1", device=0)
other = ttnn.empty((40 * 512, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
blocks = []
for rows, columns, order in ((8, 4, "ROW_MAJOR"), (4, 8, "COL_MAJOR"), (4, 8, "ROW_MAJOR")):
    config = ttnn.create_sharded_memory_config((128, 128), ttnn.CoreGrid(y=rows, x=columns), ttnn.ShardStrategy.BLOCK,
                                               getattr(ttnn.ShardOrientation, order), use_height_and_width_as_shard_shape=True)
    blocks.append(ttmem.fit((1024, 512), memory_config=config, device=0)["tensors"][0]["problem"])
sets = []
for ranges in ([(0, 0, 15, 0)], [(0, 0, 7, 1), (0, 2, 3, 2)], [(4, 4, 7, 7)], [(4, 4, 8, 7)]):
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(a, b), ttnn.CoreCoord(c, d)) for a, b, c, d in ranges})
    spec = ttnn.ShardSpec(cores, (32, 64), ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    try:
        ttnn.empty((512, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, config)
        runs = True
    except RuntimeError:
        runs = False
    nd = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec((32, 64), cores))
    sets.append([runs] + [ttmem.fit((512, 64), memory_config=each, device=0)["tensors"][0]["problem"]
                          for each in (config, nd)])
print(json.dumps([answer, too_much, other.buffer_address(), blocks, sets]))
"""


def test_python_asks_about_the_device_as_it_is():
    with open("program.py", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    values = oracle.environment("n150", PYTHONPATH=os.path.join(SOURCE, "python"), TTMEM_LIBRARY=LIBRARY,
                                TTMEM_BIN=TTMEM)
    done = subprocess.run([TTMEM, "run", oracle.setup("python", "10"), "program.py"], capture_output=True,
                          text=True, check=False, env=values)
    assert done.returncode == 0, done.stderr[-2000:]
    answer, too_much, address, blocks, sets = json.loads(done.stdout.splitlines()[-1])
    assert answer["fits"] and not answer["empty"]
    assert answer["tensors"][0]["address"] == address, "it is placed where it was foretold"
    assert not too_much["fits"]
    assert blocks == [None, None, "8 shards along the height, but only 4 rows of cores"]
    missing = [f"the device has a grid of 8x8 cores, not of {grid}" for grid in ("16x1", "9x8")]
    assert sets == [[False, missing[0], missing[0]], [True, None, None], [True, None, None],
                    [False, missing[1], missing[1]]]
