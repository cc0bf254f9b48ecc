# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Runs the host of the fake runtime under `ttmem run`, step by step."""

import json
import os
import subprocess

TTMEM = os.environ["TTMEM_BIN"]
HOST = os.path.join(os.environ["TTMEM_TEST_PROGRAMS"], "ttmem_fake_host")


def status(pid):
    text = subprocess.run([TTMEM, "status", "--json"], capture_output=True, check=True).stdout
    return next((p for p in json.loads(text)["processes"] if p["pid"] == pid), None)


class FakeHost:
    def __init__(self, *arguments, program=HOST, tracked=True, environment=None):
        command = [program, *arguments]
        self.child = subprocess.Popen(
            [TTMEM, "run", "--", *command] if tracked else command,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )

    def steps(self):
        """Yields each step's name and the process as ttmem shows it, while the host waits."""
        for line in self.child.stdout:
            yield line.strip(), status(self.child.pid)
            self.child.stdin.write("\n")
            self.child.stdin.flush()
        self.child.stdin.close()
        self.child.wait()


def run(*arguments, program=HOST, tracked=True, environment=None):
    command = [program, *arguments]
    result = subprocess.run(
        [TTMEM, "run", "--", *command] if tracked else command,
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
    return result.returncode, result.stdout, result.stderr


class Comparison:
    """The steps of a host, each compared with what is expected of it."""

    def __init__(self):
        self.failures = []

    def equal(self, step, what, got, expected):
        if got != expected:
            self.failures.append(f"{step}: {what} is {got}, expected {expected}")

    def run(self, host, check, steps):
        """Calls check(step, process) for each step of the host; the exit code of the test."""
        count = 0
        for step, process in host.steps():
            count += 1
            if process is None:
                self.failures.append(f"{step}: not recorded")
            else:
                check(step, process)
        if host.child.returncode != 0 or count != steps:
            self.failures.append(f"the host ended with {host.child.returncode} after {count} steps")
        print(f"{count} steps compared")
        for failure in self.failures:
            print("FAILED:", failure)
        return bool(self.failures)
