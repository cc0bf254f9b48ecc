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
                          words(each["shard_shape"]), "--grid", "8x8", "--board", board, "--json")
        yield json.loads(one.stdout)["tensors"][0]["block"]


@pytest.mark.parametrize("board", ["n150", "p150"])
def test_random_tensors_take_what_is_foretold(board):
    asked = cases(board)
    assert len(asked) == COUNT
    compared = 0
    for case, block in zip(asked, ours(board, asked)):
        if case["block"] is None:
            continue
        assert block == case["block"], case
        compared += 1
    print(f"{board}: {compared} of {COUNT} tensors compared, all equal")
    assert compared > COUNT // 2


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
print(json.dumps([answer, too_much, other.buffer_address()]))
"""


def test_python_asks_about_the_device_as_it_is():
    with open("program.py", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    values = oracle.environment("n150", PYTHONPATH=os.path.join(SOURCE, "python"), TTMEM_LIBRARY=LIBRARY,
                                TTMEM_BIN=TTMEM)
    done = subprocess.run([TTMEM, "run", oracle.setup("python", "10"), "program.py"], capture_output=True,
                          text=True, check=False, env=values)
    assert done.returncode == 0, done.stderr[-2000:]
    answer, too_much, address = json.loads(done.stdout.splitlines()[-1])
    assert answer["fits"] and not answer["empty"]
    assert answer["tensors"][0]["address"] == address, "it is placed where it was foretold"
    assert not too_much["fits"]
