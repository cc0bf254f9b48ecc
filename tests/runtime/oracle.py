# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Compares what `ttmem status --json` says with what the runtime itself says, to the byte.

A client of the real runtime (the host program, or Python with ttnn) prints one line of JSON a
checkpoint and waits; the comparison is made while it waits.
"""

import contextlib
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from support import built  # noqa: E402

TTMEM = os.environ.get("TTMEM_BIN") or built.TTMEM
HOST = built.program("ttmem_runtime_host")
SPACES = ("dram", "l1", "l1_small", "trace")


def setup(*arguments):
    """What tests/runtime/setup made; where it cannot be made, the test is skipped with the reason."""
    result = subprocess.run([os.path.join(HERE, "setup"), *arguments], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        # As pytest understands it too; `make demo` uses this file without pytest.
        raise unittest.SkipTest(result.stderr.strip().splitlines()[-1])
    return result.stdout.strip()


def package():
    """The folder of the stock library, which the host program uses."""
    return os.path.join(setup("wheel"), "ttnn")


def environment(board, package=None, **extra):
    values = dict(os.environ)
    cache = os.environ.get("TTMEM_RUNTIME_CACHE") or os.path.expanduser("~/.cache/ttmem-runtime")
    values.update(
        TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(setup("descriptors"), f"{board}.yaml"),
        TT_METAL_CACHE=os.path.join(cache, "kernels"),
        TT_LOGGER_LEVEL="fatal",
    )
    if package:
        values["TT_METAL_RUNTIME_ROOT"] = package
    values.update(extra)
    return values


def ttmem(*arguments):
    result = subprocess.run(
        [TTMEM, *arguments], capture_output=True, text=True, check=True
    )
    return result.stdout


def process_of(pid):
    document = json.loads(ttmem("status", "--json"))
    found = [p for p in document["processes"] if p["pid"] == pid]
    return found[0] if found else None


class Comparison:
    """Rows of checkpoint, figure, runtime, ttmem, difference."""

    def __init__(self, title):
        self.title = title
        self.largest = 0
        self.count = 0
        self.rows = []

    def row(self, checkpoint, figure, theirs, ours):
        difference = abs((ours or 0) - theirs)
        self.largest = max(self.largest, difference)
        self.count += 1
        if theirs or ours or difference:
            self.rows.append((checkpoint, figure, theirs, ours, difference))

    def check(self, point):
        """Every chip of the mesh holds what the runtime's allocator has given out."""
        process = process_of(point["pid"])
        assert process, f"{point['checkpoint']}: the process is not recorded"
        devices = {d["metal_id"]: d for d in process["devices"]}
        for chip in point.get("chips", []):
            device = devices.get(chip, {})
            for space in SPACES:
                theirs = point[space]
                ours = device.get(space) or {}
                name = f"chip {chip} {space}"
                banks = theirs["banks"]
                self.row(point["checkpoint"], name, theirs["allocated"] * banks, ours.get("taken"))
                if theirs["bank_bytes"]:
                    self.row(
                        point["checkpoint"], f"{name} capacity", theirs["bank_bytes"] * banks,
                        ours.get("capacity"),
                    )
                    self.row(
                        point["checkpoint"], f"{name} largest free", theirs["largest_free"],
                        ours.get("largest_free"),
                    )
        return process

    def must_agree(self):
        """Prints the table, and fails unless there was something to compare and all of it is equal."""
        shown = [r for r in self.rows if r[4] or "capacity" not in r[1] and "largest" not in r[1]]
        print(f"\n{self.title}")
        print(f"{'checkpoint':<28} {'figure':<22} {'runtime':>14} {'ttmem':>14} {'difference':>11}")
        for checkpoint, figure, theirs, ours, difference in shown:
            print(f"{checkpoint:<28} {figure:<22} {theirs:>14} {ours or 0:>14} {difference:>11}")
        print(f"{self.count} figures compared, largest difference {self.largest} bytes")
        assert self.count
        assert self.largest == 0, "see the table"


class Client:
    """A program under `ttmem run` that stops at each checkpoint."""

    def __init__(self, command, values, cwd=None):
        self.child = subprocess.Popen(
            [TTMEM, "run", "--", *command],
            env=values, cwd=cwd, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )

    def checkpoints(self):
        for line in self.child.stdout:
            if line.startswith('{"checkpoint"'):
                yield json.loads(line)
                self.go_on()

    def go_on(self):
        try:
            self.child.stdin.write("\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            pass

    def end(self):
        self.child.stdin.close()
        return self.child.wait()


@contextlib.contextmanager
def running(command, values):
    """A client that must end with 0, and is not left behind where a comparison fails."""
    client = Client(command, values)
    try:
        yield client
        code = client.end()
        assert code == 0, f"the program ended with {code}"
    finally:
        client.child.kill()
        client.child.wait()
        client.child.stdout.close()
