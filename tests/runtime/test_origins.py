# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A model of several files on real ttnn: every buffer names the line that the source text has it on.

Where a line is said to hold something, the source is searched for it: each interesting line ends with a
mark. The rows of `ttmem status --by` add up to the totals of the device, to the byte.
"""

import json
import os
import subprocess

import pytest

import oracle
from support import command
from support.built import LIBRARY, TTMEM

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "python")
TILE = "dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device"

LAYERS = f"""
import ttmem
import ttnn


def weight(device, size=1024):
    return ttnn.ones((size, size), {TILE})  # weights


@ttmem.region("attention")
def attention(x, w):
    x = ttnn.matmul(x, w, memory_config=ttnn.L1_MEMORY_CONFIG)  # product
    return ttnn.gelu(x)  # activation
"""

MODEL = f"""
import json
import os
import sys
import threading

import ttmem
import ttnn

import layers

device = ttnn.open_device(device_id=0)
weights = [layers.weight(device) for _ in range(3)]  # caller of weights
x = ttnn.ones((256, 1024), {TILE})
kept = []
for number, w in enumerate(weights):
    with ttmem.region(f"layer {{number}}"):
        x = layers.attention(x, w)  # caller of attention
        kept.append(ttnn.add(x, x))  # sum


def generator():
    yield ttnn.zeros((64, 64), {TILE})  # generated


kept += list(generator())
named = ttmem.region("named operation")(ttnn.zeros)
kept.append(named((32, 64), {TILE}))  # no line of ours
names = {{"ttnn": ttnn, "device": device}}
exec(compile("\\n\\ntensor = ttnn.zeros((32, 32), {TILE})", "<cell 7>", "exec"), names)


def in_a_thread():
    kept.append(
        ttnn.zeros(
            (96, 96), {TILE}
        )
    )


thread = threading.Thread(target=in_a_thread)
thread.start()
thread.join()
print(json.dumps({{"pid": os.getpid()}}, separators=(",", ":")), flush=True)
sys.stdin.readline()
ttnn.close_device(device)
"""

FILES = {"layers.py": LAYERS, "model.py": MODEL}


def line(mark, function):
    """FILE:LINE FUNCTION of the line with this mark."""
    for name, text in FILES.items():
        for number, source in enumerate(text.splitlines(), 1):
            if source.endswith("# " + mark):
                return f"{os.path.abspath(name)}:{number} {function}"
    raise KeyError(mark)


def rows(pid, by):
    now = command.document("status", "--by", by, "--pid", str(pid))
    return {row["name"]: row for row in now["origins"]}, now["total"]


def check_lines(pid):
    by_line, total = rows(pid, "line")
    assert by_line[line("weights", "weight")]["dram"]["buffers"] == 3
    assert by_line[line("sum", "<module>")]["l1"]["buffers"] == 3
    assert by_line[line("activation", "attention")]["l1"]["buffers"] == 1, "the others are freed"
    assert by_line[line("product", "attention")]["kernels"] > 0, "its programs are still cached"
    assert by_line[line("generated", "generator")]["dram"]["buffers"] == 1
    assert by_line[line("no line of ours", "<module>")]["dram"]["buffers"] == 1
    assert by_line["<cell 7>:3 <module>"]["dram"]["buffers"] == 1
    # The call of several lines: Python itself tells which of them it is.
    start = next(n for n, text in enumerate(MODEL.splitlines(), 1) if text.strip() == "ttnn.zeros(")
    in_thread = [name for name in by_line if name and name.endswith(" in_a_thread")]
    assert in_thread == [f"{os.path.abspath('model.py')}:{start} in_a_thread"]
    assert None not in by_line, "everything has a line"
    return total


def check_sums(pid, total):
    device, = oracle.process_of(pid)["devices"]
    for space in oracle.SPACES:
        assert total[space]["taken"] == device[space]["taken"], space
        assert total[space]["buffers"] == device[space]["count"], space
    assert total["program_l1"] == device["program_l1"]["allocated"]
    assert total["kernels"] == device["kernels"]["total"]["footprint"]
    for by in ("file", "operation", "region", "stack"):
        assert rows(pid, by)[1] == total, by


def check_others(pid):
    by_operation, _ = rows(pid, "operation")
    assert set(by_operation) == {"ttnn.ones", "ttnn.add", "ttnn.gelu", "ttnn.zeros", "ttnn.matmul"}
    by_region, _ = rows(pid, "region")
    assert by_region["layer 1"]["l1"]["buffers"] == 1
    assert by_region["layer 2 > attention"]["l1"]["buffers"] == 1
    by_file, _ = rows(pid, "file")
    assert set(by_file) == {os.path.abspath("layers.py"), os.path.abspath("model.py"), "<cell 7>"}
    stacks = [row["path"] for row in rows(pid, "stack")[0].values()]
    start, = [path for path in stacks if path[-1] == "ttnn.add" and path[0] == "layer 0"]
    assert start == ["layer 0", line("sum", "<module>"), "ttnn.add"]
    inner, = [path for path in stacks if path[-1] == "ttnn.gelu" and path[0] == "layer 2"]
    assert inner == ["layer 2", "attention", line("caller of attention", "<module>"),
                     line("activation", "attention"), "ttnn.gelu"], "without what ttmem does in between"


@pytest.mark.parametrize("minor", ["10", "12"])
def test_a_model_of_several_files(minor):
    python = oracle.setup("python", minor)
    for name, text in FILES.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    values = oracle.environment("n150", PYTHONPATH=PACKAGE, TTMEM_LIBRARY=LIBRARY)
    with subprocess.Popen([TTMEM, "run", "--", python, os.path.abspath("model.py")], env=values, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            told = next((text for text in child.stdout if text.startswith('{"pid"')), None)
            assert told, child.stderr.read()[-3000:]
            pid = json.loads(told)["pid"]
            total = check_lines(pid)
            check_sums(pid, total)
            check_others(pid)
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.wait() == 0
        finally:
            child.kill()
