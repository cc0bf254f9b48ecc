# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Runs the host of the fake runtime under `ttmem run`, step by step."""

import os
import subprocess

from support import built, command
from support.waiting import DEADLINE_SECONDS

HOST = built.program("ttmem_fake_host")
FOLDER = os.path.join(built.BUILD, "tests", "fake_metal")
RUNTIME = os.path.join(FOLDER, "libtt_metal.so")


class FakeHost:
    def __init__(self, *arguments, program=HOST, tracked=True, environment=None):
        line = [program, *arguments]
        self.child = subprocess.Popen(
            [built.TTMEM, "run", "--", *line] if tracked else line,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )

    def steps(self):
        """Yields each step's name and the process as ttmem shows it, while the host waits."""
        try:
            for line in self.child.stdout:
                yield line.strip(), command.process_of(self.child.pid)
                self.child.stdin.write("\n")
                self.child.stdin.flush()
            self.child.stdin.close()
            assert self.child.wait(DEADLINE_SECONDS) == 0
        finally:
            self.child.kill()
            self.child.wait()
            self.child.stdout.close()


def check_steps(host, check, count):
    """Calls check(step, process) for each step of a host that has so many."""
    names = []
    for step, process in host.steps():
        assert process, f"{step}: not recorded"
        check(step, process)
        names.append(step)
    assert len(names) == count, names


def run(*arguments, program=HOST, tracked=True, environment=None):
    """(code, output, errors) of a host that does not wait."""
    line = [program, *arguments]
    done = subprocess.run(
        [built.TTMEM, "run", "--", *line] if tracked else line,
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        timeout=DEADLINE_SECONDS, env={**os.environ, **(environment or {})},
    )
    return done.returncode, done.stdout, done.stderr
