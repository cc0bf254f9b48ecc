# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the tests of the Python package share."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from support import built

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "python"
sys.path.insert(0, str(PACKAGE))


def tracking_environment(segments, **more):
    """For a process that finds the package, the built libraries and its own segments."""
    values = dict(
        os.environ,
        PYTHONPATH=str(PACKAGE),
        PYTHONDONTWRITEBYTECODE="1",
        TTMEM_DIR=str(segments),
        TTMEM_LIBRARY=built.LIBRARY,
        TTMEM_BIN=built.TTMEM,
        TTMEM_INJECTOR_DIR=built.LIBRARIES,
    )
    values.update(more)
    return values


def output_of(command, directory, values):
    """What a command that succeeds prints."""
    done = subprocess.run(
        command,
        env=values,
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture
def in_process(tmp_path):
    """Runs a piece of Python in a process with a segment directory of its own; returns its output.

    A recorder lives as long as its process, so every test that records needs a fresh one.
    """
    library = built.LIBRARY
    ttmem = built.TTMEM
    segments = tmp_path / "segments"
    segments.mkdir(mode=0o700)

    def run(code, *arguments, python=sys.executable, **environment):
        variables = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join([str(PACKAGE), str(SOURCE / "tests" / "python")]),
            PYTHONDONTWRITEBYTECODE="1",
            TTMEM_DIR=str(segments),
            TTMEM_LIBRARY=library,
            TTMEM_BIN=ttmem,
        )
        variables.update(environment)
        command = [python, "-c", textwrap.dedent(code), *arguments]
        return output_of(command, tmp_path, variables)

    return run
