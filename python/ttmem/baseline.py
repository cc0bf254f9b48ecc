# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What each test took at most in a good run, in a file that is kept beside the tests.

A test may take as much as then, and a tolerance. Of several devices the fullest counts, so that the
same tests can run on any of them."""

import json
import os
from typing import Any, Dict, List, Optional

from . import text
from .measure import TestFigures

SCHEMA = 1
#: Sizes of kernels change with the compiler: they are no budget.
KINDS = ("dram", "l1", "l1_small", "trace", "program_l1")

#: By node id and kind, in bytes.
Peaks = Dict[str, Dict[str, int]]


def peaks_of(figures: TestFigures) -> Dict[str, int]:
    return {
        kind: max((getattr(values, kind) for values in figures.peak.values()), default=0)
        for kind in KINDS
    }


def read(path: str) -> Optional[Peaks]:
    """None if there is none yet. Raises ValueError, in words for the user."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as reason:
        raise ValueError(f"{path}: cannot be read: {reason}") from reason
    tests = document.get("tests") if isinstance(document, dict) else None
    if not isinstance(tests, dict) or document.get("document") != "pytest-baseline":
        raise ValueError(f"{path}: this is no baseline; remove it to write one")
    if document.get("schema") != SCHEMA:
        raise ValueError(f"{path}: was written by another version; remove it to write a new one")
    return {name: {kind: _bytes(path, name, values, kind) for kind in KINDS} for name, values in tests.items()}


def _bytes(path: str, name: str, values: Any, kind: str) -> int:
    value = values.get(kind) if isinstance(values, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{path}: {kind} of {name} is no number of bytes")
    return value


def write(path: str, peaks: Peaks) -> None:
    document = {"schema": SCHEMA, "document": "pytest-baseline", "tests": dict(sorted(peaks.items()))}
    beside = f"{path}.new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(beside, path)


def tolerance_of(value: str) -> float:
    """0.02 of "2%" or "2"."""
    try:
        percent = float(value.strip().rstrip("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent < 1e6:
        raise ValueError(f"--ttmem-tolerance must be a percentage such as 2%, not {value!r}")
    return percent / 100


def grown(figures: TestFigures, before: Dict[str, int], tolerance: float) -> List[str]:
    """What the test took beyond its baseline, and its largest allocations there."""
    problems: List[str] = []
    for kind, value in peaks_of(figures).items():
        most = int(before[kind] * (1 + tolerance))
        if value > most:
            problems.append(
                f"{kind}: the test took {text.format_bytes(value)} ({value} bytes), "
                f"{value - before[kind]} more than its baseline of {before[kind]}"
            )
            problems += ["the largest allocations of the test:", *figures.largest(kind)]
    return problems
