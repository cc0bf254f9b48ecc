# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Foreign tools, fetched once (scripts/tools): a test that needs one is skipped where it cannot be had."""

import os
import subprocess

import pytest

from support.built import SOURCE


def program(tool, path):
    """A program of that tool, which is fetched first if need be."""
    done = subprocess.run([os.path.join(SOURCE, "scripts", "tools"), tool], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip())
    return os.path.join(done.stdout.strip(), path)
