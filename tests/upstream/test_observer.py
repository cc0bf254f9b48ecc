# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""ttmem through the ten callbacks of docs/upstream.md tells what it tells through the hooks, at every step."""

import os
import re
import subprocess
import sys

import pytest

from support import built

sys.path.insert(0, os.path.join(built.SOURCE, "tests", "fake_metal"))
from fake_host import FakeHost  # noqa: E402

OBSERVED = built.program("ttmem_observed_host")
SPACES = ("dram", "l1", "l1_small", "trace")
#: Of the moment, or of how it was recorded.
PASSING = re.compile(r"_ns$|^age|^since|segment$|^(pid|start|line|region|origin|hash)")


def figures(process):
    """Everything that is told of the devices and failures, without times and identities."""
    def plain(value):
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items() if not PASSING.search(name)}
        return [plain(each) for each in value] if isinstance(value, list) else value
    return {"devices": plain(process["devices"]), "failures": plain(process.get("failures"))}


@pytest.mark.parametrize("play, count", [("steps", 13), ("memory", 10)])
def test_the_same_figures_at_every_step(play, count):
    hooked = [(step, figures(process)) for step, process in FakeHost(play).steps()]
    observed = [(step, figures(process)) for step, process in FakeHost(play, program=OBSERVED, tracked=False).steps()]
    assert len(hooked) == count and any(told["devices"][0]["dram"]["taken"] for _, told in hooked)
    for (step, hooks), (same, interface) in zip(hooked, observed):
        assert step == same
        assert interface == hooks, step
    assert len(observed) == count


def test_it_needs_no_private_name():
    """Of the runtime, the adapter knows one function."""
    source = built.read_source("tests/upstream/adapter.cpp") + built.read_source("tests/upstream/adapter.hpp")
    assert re.findall(r'#include "(.*)"', source) == ["adapter.hpp", "memory_observer.hpp", "ttmem/ttmem.h"]
    header = built.read_source("docs/upstream/memory_observer.hpp")
    assert len(re.findall(r"virtual void \w+\(", header)) == 10
    needed = subprocess.run(["nm", "--dynamic", "--undefined-only", "--demangle", OBSERVED], capture_output=True,
                            text=True, check=True).stdout
    assert "tt::tt_metal::experimental::set_memory_observer" in needed
