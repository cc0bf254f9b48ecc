# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Measure a block of code: what it added, its peak, and what it left behind."""

import os
import sys
from types import TracebackType
from typing import Dict, Optional, Type

from . import figures, library, text
from .figures import KINDS, DeviceFigures
from .watermark import Watermark


class Region:
    """The figures of a block, by Metal id and kind, as bytes.

    `before` what was taken at its start; `peak` the most that was taken while it ran; `added` the
    most that it added, peak minus before; `left` what is taken at its end minus before (negative if
    it freed more than it made). Inside the block they are those of the moment.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._watermark: Optional[Watermark] = None
        self._before: Dict[int, DeviceFigures] = {}
        self._peak: Dict[int, DeviceFigures] = {}
        self._after: Dict[int, DeviceFigures] = {}
        self._tagged_by = 0

    def __enter__(self) -> "Region":
        self._watermark = Watermark(self.name)
        self._push_tag()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if self._tagged_by == os.getpid():
            library.load().ttmem_tag_pop()
        self._read()
        if self._watermark is not None:
            self._watermark.close()
            self._watermark = None

    @property
    def before(self) -> Dict[int, DeviceFigures]:
        self._read()
        return self._before

    @property
    def peak(self) -> Dict[int, DeviceFigures]:
        self._read()
        return self._peak

    @property
    def added(self) -> Dict[int, DeviceFigures]:
        self._read()
        return _difference(self._peak, self._before)

    @property
    def left(self) -> Dict[int, DeviceFigures]:
        self._read()
        return _difference(self._after, self._before)

    def __str__(self) -> str:
        return text.region_table(self.name, self.added, self.peak, self.left)

    def _read(self) -> None:
        if self._watermark is None:
            return
        self._before = self._watermark.at_open()
        self._peak = self._watermark.peak()
        self._after = figures.collect(figures.taken)

    def _push_tag(self) -> None:
        """Holdings that are made inside carry the region's name and where it was entered."""
        recorder = library.load()
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        line = recorder.ttmem_intern_line(
            os.fsencode(frame.f_code.co_filename),
            frame.f_lineno,
            frame.f_code.co_name.encode("utf-8", "replace"),
        )
        recorder.ttmem_tag_push(library.intern(self.name), line)
        self._tagged_by = os.getpid()


def region(name: str) -> Region:
    """``with ttmem.region("attention") as r:`` measures a block; regions may be nested."""
    return Region(name)


def _difference(
    upper: Dict[int, DeviceFigures], lower: Dict[int, DeviceFigures]
) -> Dict[int, DeviceFigures]:
    result = {}
    for metal_id, values in upper.items():
        base = lower.get(metal_id, DeviceFigures())
        result[metal_id] = DeviceFigures(
            *(getattr(values, kind) - getattr(base, kind) for kind in KINDS)
        )
    return result
