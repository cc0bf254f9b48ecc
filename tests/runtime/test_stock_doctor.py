# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem doctor` on the stock library: as a file, through a program that is linked to it, and absent."""

import os

import pytest

import oracle
from support import command


@pytest.fixture
def library():
    return os.path.join(oracle.package(), "build", "lib", "libtt_metal.so")


def test_everything_can_be_recorded(library):
    for program in (library, oracle.HOST):
        done = command.run("doctor", "--", program)
        assert done.returncode == 0, done.stdout
        assert library in done.stdout
        assert "0.81.1" in done.stdout
        assert "everything can be recorded" in done.stdout
        assert "bound\n" in done.stdout and "allocate_buffer" not in done.stdout, "only what is not bound is named"


def test_a_program_without_tt_metal():
    done = command.run("doctor", "--", "/bin/true")
    assert done.returncode == 1
    assert "no libtt_metal.so was found" in done.stdout


def test_another_library(library):
    done = command.run("doctor", "--", os.path.join(os.path.dirname(library), "libtt_stl.so"))
    assert done.returncode == 1
    assert "MISSING, costs: buffers" in done.stdout
