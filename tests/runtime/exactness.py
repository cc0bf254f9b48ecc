# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The host program on mock chips: after every step, ttmem equals the runtime.

  exactness.py BOARD fast|slow SCENE...
"""

import json
import os
import sys

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


def check_programs(process, point, failures):
    """Program L1 of each chip, against the runtime and against what the scene made."""
    devices = {d["metal_id"]: d["program_l1"] for d in process["devices"]}

    def equal(chip, what, expected):
        got = devices[chip][what]
        if got != expected:
            failures.append(f"{point['checkpoint']}: chip {chip} {what} {got}, expected {expected}")

    if point["checkpoint"] == "a program for each chip":
        for chip, reserved, resident in expected_of_chips(point):
            equal(chip, "reserved", reserved)
            equal(chip, "resident", resident)
        return
    for chip, reserved in zip(point["chips"], point["cb_allocated"]):
        equal(chip, "reserved", reserved)


def check_kernels(process, point, failures):
    """Launches, and the footprint of what was launched: a program that never was has none."""
    expected = LAUNCHES.get(point["checkpoint"])
    if expected is None:
        return
    text = oracle.ttmem("dump", "--kind", "kernel", "--json", "--pid", str(point["pid"]))
    kernels = [k for k in json.loads(text)["holdings"] if k["loaded"]]
    footprint = sum(k["packed"] * k["cores"] for k in kernels)
    for device in process["devices"]:
        figures = device["kernels"]
        application = figures["application"]
        got = (application["programs"], figures["first_loads"], figures["cache_hits"])
        if got != expected or application["footprint"] != footprint or bool(footprint) != bool(got[0]):
            failures.append(f"{point['checkpoint']}: chip {device['metal_id']} {got}, expected {expected}; "
                            f"footprint {application['footprint']}, sum {footprint}")


def check_tracking(process, failures):
    tracking = process["tracking"]
    for name in ("hooks_missing", "unrecorded", "anomalies"):
        if tracking[name]:
            failures.append(f"{name}: {tracking[name]}")
    if tracking["exact"] is False:
        failures.append(f"audit differs by {tracking['difference_bytes']} bytes")


def main(board, mode, *scenes):
    package = os.path.join(oracle.setup("wheel"), "ttnn")
    extra = {"TT_METAL_SLOW_DISPATCH_MODE": "1"} if mode == "slow" else {}
    values = oracle.environment(board, package, **extra)
    comparison = oracle.Comparison(f"{board}, {mode} dispatch: {', '.join(scenes)}")
    client = oracle.Client([os.environ["TTMEM_RUNTIME_HOST"], "--interactive", *scenes], values, os.getcwd())
    failures = []
    for point in client.checkpoints():
        process = comparison.check(point)
        if process is None:
            failures.append(f"{point['checkpoint']}: the process is not recorded")
            continue
        check_tracking(process, failures)
        if "programs" in scenes and point.get("cb_allocated"):
            check_programs(process, point, failures)
            check_kernels(process, point, failures)
    code = client.end()
    exact = comparison.report()
    for failure in failures:
        print(f"FAILED: {failure}")
    if code != 0:
        print(f"FAILED: the host program ended with {code}")
    return 0 if exact and not failures and code == 0 and comparison.count else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
