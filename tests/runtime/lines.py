# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem run --lines`: file, line and function behind every allocation of ttnn, and nothing else changes.

The program below has a sitecustomize of its own, which must still run.
"""

import json
import os
import subprocess
import sys

import oracle

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

failures = []


def equal(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got}, expected {expected}")


def line_of(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def holdings(pid, kind):
    text = oracle.ttmem("dump", "--json", "--kind", kind, "--pid", str(pid))
    return json.loads(text)["holdings"]


def check(point, path, with_lines):
    equal("the program's own sitecustomize ran", point["own"], True)
    equal("folders of ours in sys.path", point["path"], [])
    made = f"{path}:{line_of('return ttnn.empty')} make"
    used = f"{path}:{line_of('return ttnn.add')} use"
    buffers = [(h["operation"], h["line"]) for h in holdings(point["pid"], "buffer")]
    programs = [h["line"] for h in holdings(point["pid"], "program")]
    if with_lines:
        equal("buffers", buffers, [("ttnn.empty", made), ("ttnn.add", used)])
        equal("program of the addition", programs, [used])
    else:
        equal("lines of buffers without --lines", [line for _, line in buffers if line], [])
        equal("lines of programs without --lines", [line for line in programs if line], [])


def run(python, values, path, with_lines):
    option = ["--lines"] if with_lines else []
    child = subprocess.Popen(
        [os.environ["TTMEM_BIN"], "run", *option, "--", python, path], env=values, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    points = 0
    for text in child.stdout:
        if text.startswith('{"checkpoint"'):
            points += 1
            check(json.loads(text), path, with_lines)
            child.stdin.write("\n")
            child.stdin.flush()
    equal("exit code", child.wait(), 0)
    equal("checkpoints", points, 1)


def main():
    python = oracle.setup("python", "10")
    own = os.path.join(os.getcwd(), "own")
    os.makedirs(own, exist_ok=True)
    with open(os.path.join(own, "sitecustomize.py"), "w", encoding="utf-8") as file:
        file.write("import os\nos.environ['own_sitecustomize'] = '1'\n")
    path = os.path.join(os.getcwd(), "model.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    values = oracle.environment("n150", None, PYTHONPATH=own)
    for with_lines in (True, False):
        run(python, values, path, with_lines)
    print("lines and operations of two allocations compared")
    for failure in failures:
        print("FAILED:", failure)
    return bool(failures)


sys.exit(main())
