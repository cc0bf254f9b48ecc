# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The figures of all tests, for people and for programs."""

import json
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import text

SCHEMA = 1


class TestResult(NamedTuple):
    """One test. `figures` has, by Metal id as a string and by kind, `peak` and `left` in bytes."""

    nodeid: str
    worker: Optional[str]
    failed: bool
    figures: Dict[str, Any]


def table(tests: List[TestResult]) -> Iterator[str]:
    """One line per test that touched a device; the fullest device stands for all of them."""
    rows: List[Tuple[str, ...]] = [("peak DRAM", "peak L1", "left DRAM", "left L1", "test")]
    for test in tests:
        peak, left = test.figures["peak"], test.figures["left"]
        values = [_most(peak, "dram"), _most(peak, "l1"), _most(left, "dram"), _most(left, "l1")]
        if any(values):
            rows.append((*map(text.format_bytes, values), test.nodeid))
    if len(rows) == 1:
        yield "no test took memory of a device"
        return
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        yield "  ".join([*cells, row[4]])


def write_json(path: str, tests: List[TestResult]) -> None:
    document = {
        "schema": SCHEMA,
        "document": "pytest",
        "tests": [
            {
                "nodeid": test.nodeid,
                "worker": test.worker,
                "failed": test.failed,
                "pid": test.figures["pid"],
                "devices": [
                    {
                        "metal_id": int(metal_id),
                        "peak": test.figures["peak"][metal_id],
                        "left": test.figures["left"].get(metal_id),
                    }
                    for metal_id in test.figures["peak"]
                ],
            }
            for test in tests
        ],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def _most(devices: Dict[str, Dict[str, int]], kind: str) -> int:
    return max((values[kind] for values in devices.values()), default=0)
