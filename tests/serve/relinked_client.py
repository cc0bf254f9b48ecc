# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A process whose TT-Metal was patched for the original and linked again, as tests start it."""

import os
import subprocess

from support import built


class Relinked:
    """The relinked client; calls are those of Process."""

    def __init__(self):
        self.process = subprocess.Popen(
            [built.program("relinked_host")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "TT_ALLOC_TRACKING_ENABLED": "1"})
        self.pid = self.process.pid

    def __getattr__(self, name):
        def call(*arguments):
            words = [name, *map(str, arguments)]
            self.process.stdin.write(" ".join(words) + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n"
        return call

    def query(self, device):
        """Nothing to wait for."""

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
