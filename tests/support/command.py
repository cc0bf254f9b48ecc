# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The command under test, and a demonstration workload to look at."""

import contextlib
import json
import os
import re
import signal
import subprocess

import pytest

from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS


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


def process_of(pid):
    """The process in `ttmem status`, or None."""
    return next((each for each in document("status")["processes"] if each["pid"] == pid), None)


def holdings_of(pid, kind):
    return document("dump", "--kind", kind, "--pid", str(pid))["holdings"]


class Workload:
    """A running `ttmem demo`."""

    def __init__(self, process):
        self.process = process
        self.line = process.stdout.readline()
        found = re.search(r"process ([\d ]+);", self.line)
        assert found, f"the demonstration did not start: {self.line!r}"
        self.pids = [int(pid) for pid in found.group(1).split()]


@contextlib.contextmanager
def workload(*arguments, hold=600):
    """Starts `ttmem demo` and waits until everything is recorded; ends it afterwards, or it ends itself."""
    process = subprocess.Popen([TTMEM, "demo", "--hold", str(hold), *arguments],
                               stdout=subprocess.PIPE, text=True)
    try:
        yield Workload(process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE_SECONDS)
        process.stdout.close()


CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]


@contextlib.contextmanager
def containers(count):
    """So many demonstrations, each the process 1 of a pid namespace of its own, as in containers."""
    tried = subprocess.run([*CONTAINER, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no pid namespace may be made here: {tried.stderr.strip()}")
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(_ended(subprocess.Popen(
                [*CONTAINER, TTMEM, "demo", "--hold", "600"], stdout=subprocess.PIPE, text=True)))
            assert Workload(process).pids == [1]
        yield


@contextlib.contextmanager
def _ended(process):
    try:
        yield process
    finally:
        process.kill()
        process.wait(DEADLINE_SECONDS)
        process.stdout.close()


@contextlib.contextmanager
def started(*arguments, **settings):
    """The command as a process that goes on until it is told to stop; it is killed in the end."""
    with _ended(subprocess.Popen([TTMEM, *arguments], stdout=subprocess.PIPE, text=True,
                                 **settings)) as process:
        yield process
