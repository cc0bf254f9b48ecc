# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Peaks of a stretch of time. The true peak of the process is never touched by them."""

import ctypes
import os
from typing import Dict, Optional

from . import abi, figures, library
from .figures import Device, DeviceFigures

#: The recorder's own limit.
MAX_WATERMARKS = 16


class Watermark:
    """Remembers, from its opening on, what was taken then and the most that was taken since."""

    def __init__(self, name: str) -> None:
        self._number = figures.require_recording().ttmem_watermark_open(library.intern(name))
        if self._number == 0:
            raise RuntimeError(
                f"ttmem: all {MAX_WATERMARKS} watermarks are in use: leave some regions first"
            )
        self._pid = os.getpid()

    @classmethod
    def of(cls, number: int) -> "Watermark":
        """The one of a region, which opens and closes it."""
        watermark = cls.__new__(cls)
        watermark._number = number
        watermark._pid = os.getpid()
        return watermark

    def at_open(self) -> Dict[int, DeviceFigures]:
        """What was taken on each device when it was opened; 0 on a device that opened later."""
        return figures.collect(lambda device, figure: self._read(device, figure).taken)

    def peak(self) -> Dict[int, DeviceFigures]:
        """The most that was taken on each device since it was opened."""
        return figures.collect(lambda device, figure: self._read(device, figure).peak)

    def peak_of(self, device: Device, figure: int) -> int:
        return int(self._read(device, figure).peak)

    def close(self) -> None:
        """Gives the watermark back. Does nothing in a forked child, where it does not exist."""
        if self._number and self._pid == os.getpid():
            library.load().ttmem_watermark_close(self._number)
        self._number = 0

    def _read(self, device: Device, figure: int) -> abi.Figures:
        result = abi.Figures()
        library.load().ttmem_watermark_read(
            self._number, device.recorded, figure, ctypes.byref(result)
        )
        return result


_since_reset: Optional[Watermark] = None


def reset_peak() -> None:
    """Starts `peak()` anew from what is taken now. The true peak that the views show stays."""
    global _since_reset
    fresh = Watermark("reset_peak")
    if _since_reset is not None:
        _since_reset.close()
    _since_reset = fresh


def peak() -> Dict[int, DeviceFigures]:
    """The most that this process took, by Metal id and kind, since `reset_peak()` or its start."""
    figures.require_recording()
    return figures.collect(read_peak)


def read_peak(device: Device, figure: int) -> int:
    if _since_reset is not None:
        return _since_reset.peak_of(device, figure)
    return figures.true_peak(device, figure)
