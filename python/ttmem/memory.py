# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The questions that PyTorch users know by these names, about the devices of this process."""

from typing import Callable

from . import abi, figures, text, watermark
from .figures import KINDS, Device, DeviceLike


def memory_allocated(device: DeviceLike = 0, kind: str = "dram") -> int:
    """Bytes that this process holds on a device: "dram", "l1", "l1_small", "trace", ...

    `device` is a Metal id or a device of ttnn. On a mesh it is the device that holds most. A device
    that this process has not opened holds 0.
    """
    return _largest(device, kind, figures.taken)


def max_memory_allocated(device: DeviceLike = 0, kind: str = "dram") -> int:
    """The most that this process held on a device since `reset_peak()`, or since its start."""
    return _largest(device, kind, watermark.read_peak)


def reset_peak_memory_stats() -> None:
    """PyTorch's name for `reset_peak()`."""
    watermark.reset_peak()


def memory_summary() -> str:
    """A table of what this process holds on each device, and its peaks."""
    figures.require_recording()
    return text.device_table(figures.collect(figures.taken), watermark.peak())


def _largest(device: DeviceLike, kind: str, read: Callable[[Device, int], int]) -> int:
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}; the kinds are: {', '.join(KINDS)}")
    figures.require_recording()
    known = figures.by_metal_id()
    figure = abi.Figure[kind.upper()]
    values = [read(known[one], figure) for one in figures.metal_ids(device) if one in known]
    return max(values, default=0)
