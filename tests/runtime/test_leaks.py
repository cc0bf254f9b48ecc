# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem leaks` beside a loop of real ttnn: a planted leak names its line, a clean loop gives none."""

import contextlib
import os
import subprocess

import pytest

import oracle
from support import command
from support.built import SOURCE, TTMEM

LOOP = """
import sys
import time
import ttnn

device = ttnn.open_device(device_id=0)
weights = [ttnn.empty((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device) for _ in range(20)]


TILE = (ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
kept = []
print("ready", flush=True)
while True:
    for layer in range(3):
        a = ttnn.empty((32, 32), *TILE)
        b = ttnn.empty((64, 32), *TILE)
    c = ttnn.empty((96, 32), *TILE)
    if len(sys.argv) > 1:
        kept.append(ttnn.empty((32, 32), *TILE))  # leaked
    del a, b, c
    time.sleep(0.02)
"""


def check_now(now, leaking):
    """`ttmem explain --live` of the same moment."""
    l1 = next(each for each in now["spaces"] if each["space"] == "l1")
    assert l1["sum"]["held"] + l1["sum"]["holes"] == l1["sum"]["bank"] == 1393312
    assert (l1["growth"]["held_per_second"] > 0) == leaking
    assert (l1["full_after_s"] is not None) == leaking
    assert now["next"] is None, "nothing was launched"


DECODER = """
import sys
import ttmem
import ttnn

device = ttnn.open_device(device_id=0)
TILE = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device}
L1 = ttnn.L1_MEMORY_CONFIG
weights = [ttnn.ones((64, 64), **TILE) for _ in range(4)]
cache = ttnn.zeros((32, 64), **TILE)
kept = []


def token(x):
    for weight in weights:
        h = ttnn.matmul(x, weight, memory_config=L1)
        s = ttnn.softmax(h)
        x = ttnn.add(x, s, memory_config=L1)
        ttnn.deallocate(h)
        ttnn.deallocate(s)
    if len(sys.argv) > 1:
        kept.append(ttnn.empty((1, 16), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device, L1))  # leaked
    return ttnn.add(cache, x)


x = ttnn.ones((32, 64), memory_config=L1, **TILE)
print("ready", flush=True)
for _ in range(1_000_000):
    ttmem.step()
    token(x)
"""


@contextlib.contextmanager
def running(text, *words):
    """A program of real ttnn, once it is ready."""
    with open("model.py", "w", encoding="utf-8") as file:
        file.write(text)
    program = [TTMEM, "run", oracle.setup("python", "10"), os.path.abspath("model.py"), *words]
    values = oracle.environment("n150", PYTHONPATH=os.path.join(SOURCE, "python"))
    with subprocess.Popen(program, env=values, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as process:
        try:
            assert any(line == "ready\n" for line in process.stdout), "the model ended early"
            yield process
        finally:
            process.kill()


def line_of(text, mark):
    number = next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith(mark))
    return f"{os.path.abspath('model.py')}:{number}"


def test_a_decoder_without_a_leak_gives_none_in_a_thousand_steps():
    with running(DECODER) as model:
        found = command.document("leaks", "--steps", "1000", "--pid", str(model.pid))
    assert found["steps"] >= 1000 and found["steps_from"] == "marks"
    assert found["processes"][0]["known"]
    assert found["suspects"] == [] and found["falling_l1"] == [] and found["growing_caches"] == []
    assert found["growing_lines"] == []


def test_a_leak_of_64_bytes_in_a_decoder_names_its_line():
    with running(DECODER, "leak") as model:
        found = command.document("leaks", "--steps", "100", "--pid", str(model.pid))
        text = command.text("leaks", "--pid", str(model.pid))
    suspect, = found["suspects"]
    assert suspect["block"] == 64 and suspect["space"] == "l1"
    assert suspect["line"] == line_of(DECODER, "# leaked") + " token"
    assert suspect["blocks_per_step"] == pytest.approx(1, abs=0.2)
    falling, = found["falling_l1"]
    assert falling["bytes_per_step"] == pytest.approx(64, abs=16)
    assert "Grows from step to step" in text and "model.py" in text


@pytest.mark.parametrize("leaking", [True, False], ids=["leak", "clean"])
def test_a_planted_leak_names_its_line(leaking):
    with running(LOOP, *(["leak"] if leaking else [])) as loop:
        found = command.document("leaks", "--steps", "25", "--pid", str(loop.pid))
        now, = command.document("explain", "--live", "0")["processes"]
    assert found["steps"] >= 25 and found["steps_from"] == "sequence"
    check_now(now, leaking)
    if not leaking:
        assert found["suspects"] == [] and found["falling_l1"] == [] and found["growing_caches"] == []
        return
    suspect, = found["suspects"]
    assert suspect["space"] == "l1"
    assert suspect["line"] == line_of(LOOP, "# leaked") + " <module>"
    assert suspect["blocks_per_step"] == pytest.approx(1, abs=0.5)
