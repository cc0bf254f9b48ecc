# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Real ttnn on mock chips: after every step, ttmem equals ttnn.get_memory_view.

Other releases and boards: `make test-matrix`. Before 0.76 mock chips have no fast dispatch, and programs are
not compiled: operations are then left out.
"""

import os

import pytest

import oracle

HERE = os.path.dirname(os.path.realpath(__file__))


def check_process(name, process, fabric, chips):
    tracking = process["tracking"]
    for field in ("hooks_missing", "unrecorded", "anomalies"):
        assert not tracking[field], f"{name}: {field}"
    assert tracking["exact"] is not False, f"{name}: audit differs by {tracking['difference_bytes']} bytes"
    for device in process["devices"]:
        kernels = device["kernels"]
        if name == "open" and fabric:
            assert kernels["fabric"]["programs"] == 1
        if name == "operations" and device["metal_id"] in chips:
            assert kernels["application"]["programs"] >= 3 and kernels["application"]["footprint"]
            assert device["program_l1"]["resident"]
        if name == "closed":
            assert device["rings"] == []
            assert kernels["total"]["footprint"] == 0
            assert not any(device[space]["taken"] for space in oracle.SPACES[:3])


def client(minor, board, rows, columns, fabric="", version=None):
    """The command of the client, and its environment."""
    python = oracle.setup("python", minor, *([version] if version else []))
    values = oracle.environment(board)
    if version:
        # Releases do not share what they compile.
        values["TT_METAL_CACHE"] += f"-{version}"
        if tuple(map(int, version.split("."))) < (0, 76):
            values.update(TT_METAL_SLOW_DISPATCH_MODE="1", TTMEM_WITHOUT_OPERATIONS="1")
    return [python, os.path.join(HERE, "ttnn_client.py"), rows, columns, *([fabric] if fabric else [])], values


def compare(minor, board, rows, columns, fabric="", version=None):
    """After each step of the client; returns how many figures were compared."""
    command, values = client(minor, board, rows, columns, fabric, version)
    comparison = oracle.Comparison(f"ttnn, Python 3.{minor}, {board} {rows}x{columns} {fabric}")
    chips = []
    with oracle.running(command, values) as running:
        for point in running.checkpoints():
            process = comparison.check(point)
            chips = point.get("chips", chips)
            check_process(point["checkpoint"], process, bool(fabric), chips)
    comparison.must_agree()
    return comparison.count


@pytest.mark.parametrize("minor", ["10", "12"])
def test_pythons(minor):
    compare(minor, "n150", "1", "1")


@pytest.mark.parametrize("board, rows, columns, fabric", [
    ("p150", "1", "1", ""), ("n300", "1", "2", "fabric"), ("t3k", "2", "4", "fabric"),
    ("t3k", "1", "4", ""), ("galaxy", "8", "4", "")])
def test_boards(board, rows, columns, fabric):
    compare("10", board, rows, columns, fabric)
