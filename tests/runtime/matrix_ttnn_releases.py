# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every release of ttnn that the package index has, from 0.72 on, on every board and Python: `make test-matrix`.

Each is fetched as its makers publish it. What came of it is kept in build/matrix.json, of which matrix_table.py makes the
table of the README. TTMEM_MATRIX chooses: `0.81.1`, or `0.81.1 0.72.0 p300 3.12` (any of each kind that is named); `rest`
leaves out what is kept there already, so that a run that was stopped can go on.
"""

import os
import subprocess
import unittest

import pytest

import matrix_table
import oracle
from test_ttnn_exactness import client, compare

OLDEST = "0.72.0"
PYTHONS = ("3.10", "3.12")
MESHES = {"n150": ("1", "1"), "n300": ("1", "2"), "t3k": ("2", "4"), "galaxy": ("8", "4"), "p150": ("1", "1"),
          "p300": ("1", "2")}
CHOSEN = os.environ.get("TTMEM_MATRIX", "").split()


def chosen(values):
    values = list(values)
    return [value for value in values if value in CHOSEN] or values


def releases():
    try:
        return oracle.setup("releases", OLDEST).split()
    except unittest.SkipTest as reason:
        pytest.skip(str(reason), allow_module_level=True)


def cells():
    kept = matrix_table.read() if "rest" in CHOSEN else {}
    return [(version, python, board) for version in chosen(reversed(releases())) for python in chosen(PYTHONS)
            for board in chosen(MESHES) if python not in kept.get(version, {}).get(board, {})]


def fails_by_itself(command, values):
    """What the client says if it fails where ttmem has no part in it; else nothing."""
    done = subprocess.run(command, env=values, input="\n" * 100, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or [f"it ended with {done.returncode}"]
    return next((line for line in said if "Error" in line or "TT_FATAL" in line), said[-1])


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    print("\n" + matrix_table.markdown(matrix_table.read()))


@pytest.mark.parametrize("version, python, board", cells())
def test_release(version, python, board):
    arguments = (python.split(".")[1], board, *MESHES[board], "", version)
    try:
        figures = compare(*arguments)
    except unittest.SkipTest as reason:
        matrix_table.keep(version, python, board, "not available", str(reason))
        raise
    except AssertionError as error:
        reason = fails_by_itself(*client(*arguments))
        if reason is None:
            matrix_table.keep(version, python, board, "differs", str(error))
            raise
        matrix_table.keep(version, python, board, "not by ttnn", reason)
        pytest.skip(f"ttnn {version} alone fails on a mock {board}: {reason}")
    matrix_table.keep(version, python, board, "equal", figures)
