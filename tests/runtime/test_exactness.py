# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The host program on mock chips: after every step, ttmem equals the runtime."""

import json

import pytest

import oracle

SECOND_PROGRAM = 65536  # bytes on each of 2x2 cores
#: Programs with kernels, first loads and cache hits on each chip: the same in fast and in slow dispatch.
LAUNCHES = {
    "registered": (0, 0, 0),
    "first load": (1, 1, 0),
    "cache hits": (1, 1, 2),
    "second program": (2, 2, 2),
    "first program gone": (1, 3, 2),
}
PER_CHIP = 2048  # times 1 + 16 * row + column, on core (0, 0)


def expected_of_chips(point):
    """Reserved and resident program L1 of each chip, where each runs a program of its own.

    The runtime's own count is no help there: it reports a program of one chip on all chips.
    """
    for index, chip in enumerate(point["chips"]):
        row, column = divmod(index, point["columns"])
        own = PER_CHIP * (1 + 16 * row + column)
        yield chip, 3 * SECOND_PROGRAM + max(SECOND_PROGRAM, own), 3 * SECOND_PROGRAM + own


def check_programs(process, point):
    """Program L1 of each chip, against the runtime and against what the scene made."""
    program_l1 = {d["metal_id"]: d["program_l1"] for d in process["devices"]}
    name = point["checkpoint"]
    if name == "a program for each chip":
        for chip, reserved, resident in expected_of_chips(point):
            assert program_l1[chip]["reserved"] == reserved, f"{name}: chip {chip}"
            assert program_l1[chip]["resident"] == resident, f"{name}: chip {chip}"
        return
    for chip, reserved in zip(point["chips"], point["cb_allocated"]):
        assert program_l1[chip]["reserved"] == reserved, f"{name}: chip {chip}"


def check_kernels(process, point):
    """Launches, and the footprint of what was launched: a program that never was has none."""
    expected = LAUNCHES.get(point["checkpoint"])
    if expected is None:
        return
    text = oracle.ttmem("dump", "--kind", "kernel", "--json", "--pid", str(point["pid"]))
    kernels = [k for k in json.loads(text)["holdings"] if k["loaded"]]
    footprint = sum(k["packed"] * k["cores"] for k in kernels)
    for device in process["devices"]:
        what = f"{point['checkpoint']}: chip {device['metal_id']}"
        figures = device["kernels"]
        application = figures["application"]
        got = (application["programs"], figures["first_loads"], figures["cache_hits"])
        assert got == expected, what
        assert application["footprint"] == footprint, what
        assert bool(footprint) == bool(expected[0]), what


def check_tracking(process, name):
    tracking = process["tracking"]
    for field in ("hooks_missing", "unrecorded", "anomalies"):
        assert not tracking[field], f"{name}: {field}"
    assert tracking["exact"] is not False, f"{name}: audit differs by {tracking['difference_bytes']} bytes"


def compare(board, *scenes, **settings):
    values = oracle.environment(board, oracle.package(), **settings)
    comparison = oracle.Comparison(f"{board}: {', '.join(scenes)}")
    with oracle.running([oracle.HOST, "--interactive", *scenes], values) as client:
        for point in client.checkpoints():
            process = comparison.check(point)
            check_tracking(process, point["checkpoint"])
            if "programs" in scenes and point.get("cb_allocated"):
                check_programs(process, point)
                check_kernels(process, point)
    comparison.must_agree()


BOARDS = pytest.mark.parametrize("board", ["n150", "p150", "n300", "t3k", "galaxy"])


@BOARDS
def test_buffers_and_a_second_opening(board):
    compare(board, "buffers", "reopen")


@BOARDS
def test_programs(board):
    compare(board, "programs")


def test_programs_in_slow_dispatch():
    compare("n150", "programs", TT_METAL_SLOW_DISPATCH_MODE="1")


@pytest.mark.parametrize("scene", ["failures", "threads", "forks"])
def test_scenes(scene):
    compare("n150", scene)
