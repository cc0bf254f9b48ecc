# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The command under test, and a demonstration workload to look at.

Test files run in a directory of their own with an empty TTMEM_DIR (tests/in_own_directory).
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

TTMEM = os.environ["TTMEM_BIN"]
DEADLINE_SECONDS = 30


def run(*arguments, **changes):
    """Runs the command; the result has returncode, stdout and stderr."""
    return subprocess.run([TTMEM, *arguments], capture_output=True, text=True, check=False,
                          timeout=DEADLINE_SECONDS, env={**os.environ, **changes})


def text(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stderr}"
    return done.stdout


def document(*arguments):
    return json.loads(text(*arguments, "--json"))


class TestCase(unittest.TestCase):
    """Each test sees only its own processes: a directory for segments of its own."""

    def setUp(self):
        outer = os.environ["TTMEM_DIR"]
        os.environ["TTMEM_DIR"] = tempfile.mkdtemp(dir=outer)
        self.addCleanup(os.environ.__setitem__, "TTMEM_DIR", outer)


class Workload:
    """A running `ttmem demo`."""

    def __init__(self, process):
        self.process = process
        self.line = process.stdout.readline()
        found = re.search(r"process ([\d ]+);", self.line)
        assert found, f"the demonstration did not start: {self.line!r}"
        self.pids = [int(pid) for pid in found.group(1).split()]


@contextlib.contextmanager
def workload(*arguments):
    """Starts `ttmem demo` and waits until everything is recorded; ends it afterwards."""
    process = subprocess.Popen([TTMEM, "demo", "--hold", "120", *arguments],
                               stdout=subprocess.PIPE, text=True)
    try:
        yield Workload(process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE_SECONDS)
        process.stdout.close()


def eventually(probe, what):
    """What the probe returns as soon as that is true."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        found = probe()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"did not happen in {DEADLINE_SECONDS} s: {what}")


def is_gone(pid):
    """No such process any more, or only a zombie that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
