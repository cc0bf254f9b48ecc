# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Sizes as people write them."""

import conftest  # noqa: F401  (puts the package on the path)
import pytest

from ttmem.figures import DeviceFigures
from ttmem.text import device_table, format_bytes, parse_bytes, region_table


@pytest.mark.parametrize(
    "text, value",
    [
        ("0", 0),
        ("17", 17),
        ("17 B", 17),
        ("1 KiB", 1024),
        ("64 MiB", 64 << 20),
        ("64MB", 64 << 20),
        ("1.5 GiB", 3 << 29),
        ("2T", 2 << 40),
        (4096, 4096),
    ],
)
def test_sizes_are_powers_of_1024(text, value):
    assert parse_bytes(text) == value


@pytest.mark.parametrize("text", ["", "MiB", "-1 MiB", "1 XB", "1 MiB!", None, True, -5])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="not a size"):
        parse_bytes(text)


def test_bytes_have_one_decimal_from_1_kib_on():
    assert [format_bytes(one) for one in (0, 1023, 1024, 1 << 20, 3 << 29, -1536)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.0 MiB",
        "1.5 GiB",
        "-1.5 KiB",
    ]


def test_a_region_lists_only_what_moved():
    moved = {0: DeviceFigures(dram=2113536), 1: DeviceFigures()}
    nothing = {0: DeviceFigures(), 1: DeviceFigures()}
    assert region_table("attention", moved, moved, nothing) == (
        "attention  kind    added     peak  left\n"
        "device 0   DRAM  2.0 MiB  2.0 MiB   0 B"
    )


def test_a_device_lists_every_kind():
    lines = device_table({3: DeviceFigures(l1=1024)}, {3: DeviceFigures(l1=2048)}).splitlines()
    assert len(lines) == 7
    assert lines[2].split() == ["device", "3", "L1", "1.0", "KiB", "2.0", "KiB"]
