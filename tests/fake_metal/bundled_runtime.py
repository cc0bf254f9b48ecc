# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A runtime under another name, or as a part of another library, as packages that bundle it load it: it works
as without hooks, and what it holds is recorded."""

import os
import sys

from fake_host import FakeHost, run

RENAMED, PART = os.environ["TTMEM_BUNDLED_RUNTIMES"].split(":")
PATCH = os.path.join(os.path.dirname(os.path.dirname(os.environ["TTMEM_BIN"])), "lib", "libttmem_patch.so")
PROGRAM = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
runtime.fake_metal_open.restype = ctypes.c_void_p
for patch in sys.argv[2:]:
    result = (ctypes.c_uint32 * 7)(28)
    assert ctypes.CDLL(patch).ttmem_patch(result) == 0
world = runtime.fake_metal_open()
runtime.fake_metal_hold(ctypes.c_void_p(world), ctypes.c_uint64(4096))
print(runtime.fake_metal_allocations(), flush=True)
sys.stdin.readline()
"""

failures = []


def equal(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got!r}, expected {expected!r}")


COMMAND = {"program": sys.executable}
for library in (RENAMED, PART):
    without = run("-c", PROGRAM, library, tracked=False, **COMMAND)
    equal("without hooks", without, (0, "1\n", ""))
    disabled = run("-c", PROGRAM, library, environment={"TTMEM_DISABLE": "1"}, **COMMAND)
    equal("disabled", disabled, without)

for way, host in {
    "renamed, preloaded": FakeHost("-c", PROGRAM, RENAMED, **COMMAND),
    "renamed, patched": FakeHost("-c", PROGRAM, RENAMED, PATCH, tracked=False, **COMMAND),
    "a part, preloaded": FakeHost("-c", PROGRAM, PART, **COMMAND),
}.items():
    steps = 0
    for line, process in host.steps():
        steps += 1
        equal(f"{way}: allocations", line, "1")
        equal(f"{way}: DRAM", process and process["devices"][0]["dram"]["taken"], 4096)
    equal(f"{way}: exit code", host.child.returncode, 0)
    equal(f"{way}: steps", steps, 1)
print("a runtime under another name recorded")
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
