# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem leaks` beside a loop of real ttnn: a planted leak names its line, a clean loop gives none."""

import os
import subprocess

import pytest

import oracle
from support import command
from support.built import TTMEM

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


@pytest.mark.parametrize("leaking", [True, False], ids=["leak", "clean"])
def test_a_planted_leak_names_its_line(leaking):
    with open("loop.py", "w", encoding="utf-8") as file:
        file.write(LOOP)
    program = [TTMEM, "run", oracle.setup("python", "10"), os.path.abspath("loop.py"), *(["leak"] if leaking else [])]
    with subprocess.Popen(program, env=oracle.environment("n150"), stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as loop:
        try:
            while loop.stdout.readline() not in ("ready\n", ""):
                pass
            found = command.document("leaks", "--steps", "25", "--pid", str(loop.pid))
            now, = command.document("explain", "--live", "0")["processes"]
        finally:
            loop.kill()
    assert found["steps"] >= 25 and found["steps_from"] == "sequence"
    check_now(now, leaking)
    if not leaking:
        assert found["suspects"] == [] and found["falling_l1"] == [] and found["growing_caches"] == []
        return
    suspect, = found["suspects"]
    number = next(n for n, text in enumerate(LOOP.splitlines(), 1) if text.endswith("# leaked"))
    assert suspect["space"] == "l1"
    assert suspect["line"] == f"{os.path.abspath('loop.py')}:{number} <module>"
    assert suspect["blocks_per_step"] == pytest.approx(1, abs=0.5)
