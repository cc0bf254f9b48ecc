# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Real ttnn on mock chips: after every step, ttmem equals ttnn.get_memory_view.

  ttnn_exactness.py PYTHON_MINOR BOARD ROWS COLUMNS [fabric]

TTMEM_TTNN_VERSION names another release than the pinned one. Before 0.76 mock chips have no fast
dispatch, and programs are not compiled: operations are then left out.
"""

import os
import sys

import oracle

HERE = os.path.dirname(os.path.realpath(__file__))


def check_process(name, process, fabric, chips, failures):
    tracking = process["tracking"]
    for field in ("hooks_missing", "unrecorded", "anomalies"):
        if tracking[field]:
            failures.append(f"{name}: {field} {tracking[field]}")
    if tracking["exact"] is False:
        failures.append(f"{name}: audit differs by {tracking['difference_bytes']} bytes")
    for device in process["devices"]:
        kernels = device["kernels"]
        if name == "open" and fabric and kernels["fabric"]["programs"] != 1:
            failures.append(f"open: {kernels['fabric']['programs']} fabric programs on a chip")
        if name == "operations" and device["metal_id"] in chips:
            if kernels["application"]["programs"] < 3 or not kernels["application"]["footprint"]:
                failures.append(f"operations: kernels {kernels['application']}")
            if not device["program_l1"]["resident"]:
                failures.append("operations: no program L1 is resident")
        if name == "closed" and device["rings"]:
            failures.append(f"closed: rings {device['rings']} are left")
        if name == "closed" and kernels["total"]["footprint"]:
            failures.append(f"closed: {kernels['total']['footprint']} bytes of kernels are left")


def main(minor, board, rows, columns, fabric=""):
    version = os.environ.get("TTMEM_TTNN_VERSION")
    python = oracle.setup("python", minor, *([version] if version else []))
    values = oracle.environment(board, None)
    if version and version != "newest" and tuple(map(int, version.split("."))) < (0, 76):
        values.update(TT_METAL_SLOW_DISPATCH_MODE="1", TTMEM_WITHOUT_OPERATIONS="1")
    command = [python, os.path.join(HERE, "ttnn_client.py"), rows, columns, *([fabric] if fabric else [])]
    comparison = oracle.Comparison(f"ttnn, Python 3.{minor}, {board} {rows}x{columns} {fabric}")
    client = oracle.Client(command, values, os.getcwd())
    failures = []
    chips = []
    for point in client.checkpoints():
        process = comparison.check(point)
        chips = point.get("chips", chips)
        if process is None:
            failures.append(f"{point['checkpoint']}: the process is not recorded")
            continue
        check_process(point["checkpoint"], process, bool(fabric), chips, failures)
        for device in process["devices"]:
            if point["checkpoint"] == "closed" and any(device[s]["taken"] for s in oracle.SPACES[:3]):
                failures.append("closed: buffers are left")
    code = client.end()
    exact = comparison.report()
    for failure in failures:
        print(f"FAILED: {failure}")
    if code != 0:
        print(f"FAILED: the client ended with {code}")
    return 0 if exact and not failures and code == 0 and comparison.count else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
