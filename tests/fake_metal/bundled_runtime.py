# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A runtime under another name, as a package that bundles it may load it: it works as without hooks, and
what it holds is recorded."""

import os
import sys

from fake_host import FakeHost, run

LIBRARY = os.environ["TTMEM_BUNDLED_RUNTIME"]
PROGRAM = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
runtime.fake_metal_open.restype = ctypes.c_void_p
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
WITHOUT = run("-c", PROGRAM, LIBRARY, tracked=False, **COMMAND)
equal("without hooks", WITHOUT, (0, "1\n", ""))
disabled = run("-c", PROGRAM, LIBRARY, environment={"TTMEM_DISABLE": "1"}, **COMMAND)
equal("disabled", disabled, WITHOUT)
host = FakeHost("-c", PROGRAM, LIBRARY, **COMMAND)
steps = 0
for line, process in host.steps():
    steps += 1
    equal("allocations", line, "1")
    taken = process and process["devices"][0]["dram"]["taken"]
    equal("DRAM", taken, 4096)
equal("exit code", host.child.returncode, 0)
equal("steps", steps, 1)
print("a runtime under another name recorded")
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
