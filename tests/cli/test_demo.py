# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`make demo` on what was built: it holds its numbers, needs no terminal and leaves nothing behind."""

import os
import re
import subprocess

from support import built


def test_the_demonstration():
    before = set(os.listdir("/dev/shm"))
    done = subprocess.run([os.path.join(built.SOURCE, "scripts", "demo")], text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "TTMEM_BIN": built.TTMEM})
    assert done.returncode == 0, done.stdout
    assert "Part A: all numbers held" in done.stdout
    assert re.search(r"Part B: all numbers held|Part B is left out: ", done.stdout)
    table = done.stdout.split("\n== What was real", 1)[1]
    assert len(re.findall(r"^  [AB] ", table, re.MULTILINE)) >= 2, "no table at the end"
    first_lines = done.stdout.split("\n==", 1)[0].split("\n")
    assert len([line for line in first_lines if line]) == 3, first_lines
    left = [name for name in set(os.listdir("/dev/shm")) - before if name.startswith("ttmem-demo")]
    assert left == []
