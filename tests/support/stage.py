# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A tracked program that does as it is told (tests/programs/stage.cpp)."""

import contextlib
import json
import subprocess

from support import built


class Play:
    """tests/programs/stage.cpp: play("allocate", id=1, ...) makes that call."""

    def __init__(self, process):
        self.process, self.pid = process, process.pid

    def __call__(self, call, **arguments):
        self.process.stdin.write(json.dumps([call, arguments]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer == "ok\n", answer


@contextlib.contextmanager
def staged(*before):
    """The stage; `before` starts it: ("unshare", ...)."""
    process = subprocess.Popen([*before, built.program("stage")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        yield Play(process)
    finally:
        process.kill()
        process.communicate()
