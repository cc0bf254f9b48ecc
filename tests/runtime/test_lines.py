# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""File, line and function behind every allocation of ttnn, unless asked not to, and nothing else changes.

The program below has a sitecustomize of its own, which must still run.
"""

import json
import os
import subprocess

import pytest

import oracle
from support import command
from support.built import LIBRARY, TTMEM

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "python")

PROGRAM = """
import json, os, sys
import ttnn
device = ttnn.open_device(device_id=0)
def make():
    return ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
def use(a):
    return ttnn.add(a, a)
a = make()
b = use(a)
print(json.dumps({"checkpoint": "made", "pid": os.getpid(), "own": "own_sitecustomize" in os.environ,
                  "path": [p for p in sys.path if p.endswith("ttmem/python")]}, separators=(",", ":")), flush=True)
sys.stdin.readline()
ttnn.close_device(device)
"""


def line_of(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def check(point, path, with_lines):
    assert point["own"], "the program's own sitecustomize ran"
    assert point["path"] == [], "folders of ours in sys.path"
    made = f"{path}:{line_of('return ttnn.empty')} make"
    used = f"{path}:{line_of('return ttnn.add')} use"
    buffers = [(h["operation"], h["line"]) for h in command.holdings_of(point["pid"], "buffer")]
    programs = [h["line"] for h in command.holdings_of(point["pid"], "program")]
    if with_lines:
        assert buffers == [("ttnn.empty", made), ("ttnn.add", used)]
        beside = [h["device_operation"] for h in command.holdings_of(point["pid"], "buffer")]
        assert beside == [None, "BinaryNgDeviceOperation"]
        assert "ttnn.add (BinaryNgDeviceOperation), " in command.text("dump", "--pid", str(point["pid"]))
        assert programs == [used]
    else:
        assert [line for _, line in buffers if line] == []
        derived = [(h["operation"], h["operation_is_derived"])
                   for h in command.holdings_of(point["pid"], "buffer")]
        assert derived == [(None, False), ("BinaryNgDeviceOperation", True)], "of the launch that followed"
        rows = command.document("status", "--by", "operation", "--pid", str(point["pid"]))["origins"]
        assert {row["name"]: row["derived"] for row in rows} == {None: False, "BinaryNgDeviceOperation": True}
        shown = command.text("dump", "--pid", str(point["pid"]))
        assert "BinaryNgDeviceOperation (derived)" in shown, shown
        assert [line for line in programs if line] == []


@pytest.mark.parametrize("with_lines", [True, False], ids=["with lines", "without"])
def test_lines_of_two_allocations(with_lines):
    python = oracle.setup("python", "10")
    os.mkdir("own")
    with open("own/sitecustomize.py", "w", encoding="utf-8") as file:
        file.write("import os\nos.environ['own_sitecustomize'] = '1'\n")
    path = os.path.abspath("model.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    values = oracle.environment("n150", PYTHONPATH=os.path.abspath("own"))
    option = [] if with_lines else ["--no-lines"]
    points = 0
    with subprocess.Popen([TTMEM, "run", *option, "--", python, path], env=values, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            for text in child.stdout:
                if text.startswith('{"checkpoint"'):
                    points += 1
                    check(json.loads(text), path, with_lines)
                    child.stdin.write("\n")
                    child.stdin.flush()
            assert child.wait() == 0
        finally:
            child.kill()
    assert points == 1


def states(tmp_path, options=(), start=""):
    """What is said of the lines of a process that holds one tensor, and of that tensor."""
    program = tmp_path / "model.py"
    program.write_text(start + PROGRAM, encoding="utf-8")
    with subprocess.Popen([TTMEM, "run", "--", oracle.setup("python", "10"), *options, str(program)],
                          env=oracle.environment("n150", PYTHONPATH=PACKAGE, TTMEM_LIBRARY=LIBRARY), text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            pid = next(json.loads(text)["pid"] for text in child.stdout if text.startswith('{"checkpoint"'))
            tracking = command.process_of(pid)["tracking"]
            shown = command.text("status", "--by", "line", "--pid", str(pid))
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.wait() == 0
        finally:
            child.kill()
    return tracking["lines"], shown


def test_a_python_without_the_start_file_says_so(tmp_path):
    state, shown = states(tmp_path, ["-I"])
    assert state == "refused"
    assert "(not known)" in shown
    assert "no lines of Python are told: ttmem's start file saw no `import ttnn` (python -I, -E or -S?): " \
           "call ttmem.track()" in shown


def test_a_program_that_asks_for_no_lines_says_so(tmp_path):
    # Without the start file, which asks for them before the program does.
    start = f"import sys; sys.path.insert(0, {PACKAGE!r}); import ttmem; ttmem.track(lines=False)\n"
    state, shown = states(tmp_path, ["-E"], start)
    assert state == "off"
    assert "lines were switched off" in shown
