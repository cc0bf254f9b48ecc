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

SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..")
sys.path[:0] = [os.path.join(SOURCE, "tests", "runtime"), os.path.join(SOURCE, "python")]

import oracle  # noqa: E402
from ttmem.l1_tracker import L1Tracker  # noqa: E402

# The workload of host.cpp: side of the square of cores, circular buffers, bytes of each.
PLANS = [(4, 2, 4096), (2, 1, 65536)]
KERNELS_A_PROGRAM = 2
DRAM_BYTES, L1_BYTES = 1024 * 2048, 64 * 2048
FIGURES = ("DRAM buffers", "L1 buffers", "circular buffers", "program L1 resident", "kernels")


def told(way, hooked):
    """What the views say about the workload, told in one way."""
    command = [os.environ["TTMEM_WAYS_IN_HOST"], way]
    if hooked:
        command = [os.environ["TTMEM_BIN"], "run", "--", *command]
    package = os.path.join(oracle.setup("wheel"), "ttnn")
    child = subprocess.Popen(
        command,
        env=dict(oracle.environment("n150", package), TT_ALLOC_TRACKING_ENABLED="1"),
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


def missing_in_document(rows):
    """Rows that docs/ways-in.md does not show. The sizes of kernels differ from run to run: a
    stand-in compiler makes them of all defines, and one of those is a path."""
    with open(os.path.join(SOURCE, "docs", "ways-in.md"), encoding="utf-8") as file:
        shown = file.read().splitlines()
    return [row for row in rows if row not in shown and not row.startswith("| kernels")]


def main():
    ways = {
        "manual": by_hand(with_cores=False),
        "manual, times cores": by_hand(with_cores=True),
        "wrappers": told("wrapped", hooked=False),
        "reports": told("reported", hooked=False),
        "hooks": told("plain", hooked=True),
    }
    both = told("wrapped", hooked=True)
    rows = table(ways)
    print("\n".join(rows))
    truth = ways["hooks"]
    circular = sum(side * side * count * size for side, count, size in PLANS)
    checks = {
        "hooks: circular buffers": truth["circular buffers"] == circular,
        "wrappers: circular buffers": ways["wrappers"]["circular buffers"] == circular,
        "wrappers: kernels": ways["wrappers"]["kernels"] == truth["kernels"],
        "reports: circular buffers": ways["reports"]["circular buffers"] == circular,
        "reports: kernels": ways["reports"]["kernels"] == truth["kernels"],
        "reports: DRAM": ways["reports"]["DRAM buffers"] == DRAM_BYTES,
        "reports: L1": ways["reports"]["L1 buffers"] == L1_BYTES,
        "manual, times cores": ways["manual, times cores"]["circular buffers"] == circular,
        "nothing is told to nobody": told("plain", hooked=False) is None,
        "wrappers under hooks add nothing": both == truth,
        "docs/ways-in.md shows this table": not missing_in_document(rows),
    }
    failed = [name for name, holds in checks.items() if not holds]
    print("FAILED: " + ", ".join(failed) if failed else f"{len(checks)} promises kept")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
