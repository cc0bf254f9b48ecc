# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The host program on mock chips: after every step, ttmem equals the runtime.

  exactness.py BOARD fast|slow SCENE...
"""

import os
import sys

import oracle


def check_programs(process, point, failures):
    """Program L1 and kernels, against what the scene is known to have made."""
    device = process["devices"][0]
    reserved = device["program_l1"]["reserved"]
    if reserved != point["cb_allocated"][0]:
        failures.append(
            f"{point['checkpoint']}: reserved {reserved}, runtime {point['cb_allocated'][0]}"
        )


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
    code = client.end()
    exact = comparison.report()
    for failure in failures:
        print(f"FAILED: {failure}")
    if code != 0:
        print(f"FAILED: the host program ended with {code}")
    return 0 if exact and not failures and code == 0 and comparison.count else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
