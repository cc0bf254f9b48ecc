# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every CPython of this machine that the package supports, the newest patch release of each minor."""

import glob
import os
import shutil
import subprocess

OLDEST = (3, 8)
NEWEST_TRIED = 20


def candidates():
    for minor in range(OLDEST[1], NEWEST_TRIED):
        yield shutil.which(f"python3.{minor}")
    yield shutil.which("python3")
    yield "/usr/bin/python3"
    roots = [os.environ.get("PYENV_ROOT"), os.path.join(os.path.expanduser("~"), ".pyenv")]
    for root in filter(None, roots):
        yield from glob.glob(os.path.join(root, "versions", "*", "bin", "python3"))


def version(interpreter):
    """Its version if it really runs and can make virtual environments: shims may do neither."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:3], sys.implementation.name)"
    try:
        done = subprocess.run(
            [interpreter, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    except OSError:
        return None
    words = done.stdout.split()
    if done.returncode != 0 or len(words) != 4 or words[3] != "cpython":
        return None
    return tuple(int(word) for word in words[:3])


def find():
    """{(3, minor): path}"""
    newest = {}
    for path in filter(None, candidates()):
        found = version(path)
        if found and found[:2] >= OLDEST and found > newest.get(found[:2], ((), ""))[0]:
            newest[found[:2]] = (found, path)
    return {minor: path for minor, (_, path) in sorted(newest.items())}
