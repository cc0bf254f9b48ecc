# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A process that records what it is told: tests/programs/program_host.cpp."""

import subprocess

from support import built
from support.waiting import DEADLINE_SECONDS


class Host:
    def __init__(self, *before):
        """`before` is what starts it, as in ("ttmem", "run")."""
        self.process = subprocess.Popen([*before, built.program("program_host")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ok\n"

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n", line

    def tell_of_three_programs(self):
        self.tell("program 1 4096 171 5000", "program 2 32768 171 5000", "program 3 4096 205 700")

    def end(self):
        self.process.stdin.close()
        self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()
