# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A release that lacks a function which a hook must ask: the program runs, the process says which figures it
cannot tell, and so does `ttmem doctor`."""

import os

import pytest

from fake_host import RUNTIME, FakeHost, check_steps
from support import command


def without(symbol):
    """A copy of the runtime in which the function has another name."""
    with open(RUNTIME, "rb") as file:
        data = file.read()
    path = os.path.abspath(os.path.basename(RUNTIME))
    with open(path, "wb") as file:
        file.write(data.replace(symbol.encode() + b"\0", b"_Y" + symbol[2:].encode() + b"\0"))
    return path


# Nothing in the fake runtime calls them.
@pytest.mark.parametrize("symbol, hook, cost", [
    ("_ZNK2tt8tt_metal12CoreRangeSet6rangesEv", "circular_buffer_placed", "circular buffers"),
    ("_ZNK2tt8tt_metal6Kernel4metaEPNS0_7IDeviceE", "program_compiled", "kernels"),
])
def test_what_a_vanished_function_costs_is_said(symbol, hook, cost):
    def check(step, process):
        assert hook in process["tracking"]["hooks_missing"], step

    path = without(symbol)
    check_steps(FakeHost("steps", environment={"LD_LIBRARY_PATH": os.path.dirname(path)}), check, count=13)
    lines = [line.split(None, 1) for line in command.run("doctor", "--", path).stdout.splitlines()]
    assert [line[1].strip() for line in lines if line[:1] == [hook]] == [f"MISSING, costs: {cost}"]
