# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Bytes and tables for people."""

import re
from typing import Dict, List, Mapping, Sequence, Tuple

from .figures import KINDS, DeviceFigures

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_NAMES = {
    "dram": "DRAM",
    "l1": "L1",
    "l1_small": "L1_SMALL",
    "trace": "TRACE",
    "program_l1": "program L1",
    "kernels": "kernels (footprint)",
}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(i?)(B?)\s*", re.IGNORECASE)


def format_bytes(value: int) -> str:
    """1572864 as "1.5 MiB"; whole bytes below 1 KiB."""
    sign, rest = ("-", -value) if value < 0 else ("", value)
    if rest < 1024:
        return f"{sign}{rest} B"
    size = float(rest)
    unit = 0
    while size >= 1024 and unit + 1 < len(_UNITS):
        size /= 1024
        unit += 1
    return f"{sign}{size:.1f} {_UNITS[unit]}"


def parse_bytes(value: object) -> int:
    """The bytes of 4096, "64 MiB" or "1.5GiB". KB, MB and GB are powers of 1024 here as well."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"not a size: {value!r}; write a number of bytes or \"64 MiB\"")
    number, prefix, _, _ = match.groups()
    return int(float(number) * 1024 ** " KMGT".index(prefix.upper() or " "))


def region_table(
    name: str,
    added: Mapping[int, DeviceFigures],
    peak: Mapping[int, DeviceFigures],
    left: Mapping[int, DeviceFigures],
) -> str:
    rows: List[Tuple[str, ...]] = []
    for metal_id in peak:
        for kind in KINDS:
            values = [getattr(one[metal_id], kind) for one in (added, peak, left)]
            if any(values):
                rows.append((f"device {metal_id}", _NAMES[kind], *map(format_bytes, values)))
    return _table((name, "kind", "added", "peak", "left"), rows)


def device_table(
    now: Dict[int, DeviceFigures], peak: Dict[int, DeviceFigures]
) -> str:
    rows = []
    for metal_id, values in now.items():
        for kind in KINDS:
            rows.append(
                (
                    f"device {metal_id}",
                    _NAMES[kind],
                    format_bytes(getattr(values, kind)),
                    format_bytes(getattr(peak[metal_id], kind)),
                )
            )
    return _table(("ttmem", "kind", "now", "peak"), rows)


def _table(head: Tuple[str, ...], rows: Sequence[Tuple[str, ...]]) -> str:
    """Columns as wide as their widest cell: two of words, then numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
