# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The three ways of telling by hand against the hooks, on one workload of the stock runtime.

Prints the table of docs/ways-in.md and fails where a way does not keep what is promised for it:
wrappers and reports must give the true circular buffers and kernels, reports the requested bytes
of buffers, and the manual tracker its own arithmetic.
"""

import json
import os
import subprocess
import sys

import pytest

from support import built

sys.path[:0] = [os.path.join(built.SOURCE, "tests", "runtime"), os.path.join(built.SOURCE, "python")]
import oracle  # noqa: E402
from ttmem.l1_tracker import L1Tracker  # noqa: E402

# The workload of stock_host.cpp: side of the square of cores, circular buffers, bytes of each.
PLANS = [(4, 2, 4096), (2, 1, 65536)]
KERNELS_A_PROGRAM = 2
DRAM_BYTES, L1_BYTES = 1024 * 2048, 64 * 2048
FIGURES = ("DRAM buffers", "L1 buffers", "circular buffers", "program L1 resident", "kernels")


def told(way, hooked):
    """What the views say about the workload, told in one way."""
    command = [built.program("ways_in_host"), way]
    if hooked:
        command = [built.TTMEM, "run", "--", *command]
    child = subprocess.Popen(
        command,
        env=oracle.environment("n150", oracle.package(), TT_ALLOC_TRACKING_ENABLED="1"),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    point = next(json.loads(line) for line in child.stdout if line.startswith('{"checkpoint"'))
    process = oracle.process_of(point["pid"])
    child.stdin.write("\n")
    child.stdin.close()
    child.stdout.read()
    assert child.wait() == 0, f"{way} ended with {child.returncode}"
    if process is None or not process["segment"]:
        return None  # what others know of it is not what it tells
    device = next(one for one in process["devices"] if one["metal_id"] == 0)
    bytes_of = {
        space: device[space]["requested" if device["basis"] == "requested" else "taken"]
        for space in ("dram", "l1")
    }
    return dict(
        zip(
            FIGURES,
            (
                bytes_of["dram"],
                bytes_of["l1"],
                device["program_l1"]["allocated"],
                device["program_l1"]["resident"],
                device["kernels"]["total"]["footprint"],
            ),
        )
    )


def by_hand(with_cores):
    """The calls that a user of the manual tracker would write for this workload."""
    tracker = L1Tracker()
    for side, count, size in PLANS:
        cores = side * side
        for _ in range(count):
            tracker.track_cb(size // 32 * (cores if with_cores else 1), 32)
        for _ in range(KERNELS_A_PROGRAM):
            tracker.track_kernel(num_cores=cores)
    return dict(zip(FIGURES, (None, None, tracker.cb_total, None, tracker.kernel_est)))


def cell(value, truth):
    if value is None:
        return "-"
    return f"{value:,} ({100 * value / truth:.0f} %)" if truth else f"{value:,}"


def table(ways):
    truth = ways["hooks"]
    rows = ["| figure | " + " | ".join(ways) + " |", "| --- |" + " ---: |" * len(ways)]
    for figure in FIGURES:
        cells = [
            f"{value[figure]:,}" if way == "hooks" else cell(value[figure], truth[figure])
            for way, value in ways.items()
        ]
        rows.append(f"| {figure} | " + " | ".join(cells) + " |")
    return rows


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """What each way says, what two at once say, and what nobody says.

    All in one directory: the stand-in compiler makes the sizes of kernels of all defines, and one of those is
    a path.
    """
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("ways")
        patch.chdir(place)
        patch.setenv("TTMEM_DIR", str(place / "segments"))
        patch.setenv("TTMEM_HOST_ROOT", str(place / "no-host"))
        ways = {
            "manual": by_hand(with_cores=False),
            "manual, times cores": by_hand(with_cores=True),
            "wrappers": told("wrapped", hooked=False),
            "reports": told("reported", hooked=False),
            "hooks": told("plain", hooked=True),
        }
        return ways, told("wrapped", hooked=True), told("plain", hooked=False)


@pytest.fixture
def ways(measured):
    return measured[0]


CIRCULAR = sum(side * side * count * size for side, count, size in PLANS)


@pytest.mark.parametrize("way", ["manual, times cores", "wrappers", "reports", "hooks"])
def test_circular_buffers_are_exact(ways, way):
    assert ways[way]["circular buffers"] == CIRCULAR


@pytest.mark.parametrize("way", ["wrappers", "reports"])
def test_kernels_are_exact(ways, way):
    assert ways[way]["kernels"] == ways["hooks"]["kernels"]


def test_reports_tell_the_requested_bytes(ways):
    assert ways["reports"]["DRAM buffers"] == DRAM_BYTES
    assert ways["reports"]["L1 buffers"] == L1_BYTES


def test_wrappers_under_hooks_add_nothing(measured):
    ways, both, _ = measured
    assert both == ways["hooks"]


def test_nothing_is_told_to_nobody(measured):
    assert measured[2] is None


def test_the_document_shows_this_table(ways):
    """But for the sizes of kernels, which differ from run to run."""
    shown = built.read_source("docs/ways-in.md").splitlines()
    assert [row for row in table(ways) if row not in shown and not row.startswith("| kernels")] == []
