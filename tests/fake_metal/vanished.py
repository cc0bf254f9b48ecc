# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A release that lacks a function which a hook must ask: the program runs, the process says which figures it
cannot tell, and so does `ttmem doctor`."""

import os
import subprocess
import sys

from fake_host import TTMEM, FakeHost

LIBRARY = os.environ["TTMEM_FAKE_RUNTIMES"].split(":")[0]
#: Nothing in the fake runtime calls them: function, hook, what it costs.
VANISHED = (
    ("_ZNK2tt8tt_metal12CoreRangeSet6rangesEv", "circular_buffer_placed", "circular buffers"),
    ("_ZNK2tt8tt_metal6Kernel4metaEPNS0_7IDeviceE", "program_compiled", "kernels"),
)

failures = []


def without(symbol):
    """A copy of the runtime in which the function has another name."""
    folder = os.path.abspath(symbol)
    os.makedirs(folder)
    path = os.path.join(folder, os.path.basename(LIBRARY))
    with open(LIBRARY, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(symbol.encode() + b"\0", b"_Y" + symbol[2:].encode() + b"\0"))
    return path


def expect(what, condition, seen):
    if not condition:
        failures.append(f"{what}: {seen}")


for symbol, hook, cost in VANISHED:
    path = without(symbol)
    host = FakeHost("steps", environment={"LD_LIBRARY_PATH": os.path.dirname(path)})
    for step, process in host.steps():
        missing = process["tracking"]["hooks_missing"]
        expect(f"{hook} at {step}", hook in missing, missing)
    expect(f"{hook}: exit code", host.child.returncode == 0, host.child.returncode)
    text = subprocess.run([TTMEM, "doctor", "--", path], capture_output=True, text=True, check=False).stdout
    lines = [line.split(None, 1)[1].strip() for line in text.splitlines() if line.split()[:1] == [hook]]
    expect(f"{hook}: doctor", lines == [f"MISSING, costs: {cost}"], lines)
print(f"{len(VANISHED)} vanished functions labelled")
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
