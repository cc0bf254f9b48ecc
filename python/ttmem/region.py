# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Name a block of code, and measure it: what it added, its peak, and what it left behind."""

import ctypes
import functools
import os
from types import TracebackType
from typing import Any, Callable, Dict, Optional, Type, TypeVar, cast

from . import abi, figures, library, text
from .figures import KINDS, Device, DeviceFigures
from .track import recorder_if_tracked
from .watermark import MAX_WATERMARKS, Watermark

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: What is told of each figure, in this order.
_BEFORE, _PEAK, _NOW = 0, 1, 2
_MOST_NAMES = 10_000
_names: Dict[str, int] = {}
#: Counts forks: what was entered in the parent is not left in the child, where it does not exist.
_process = 0
_OUTSIDE = -1


class _Recorder:
    """The two calls of a region. Their arguments are plain numbers, which need no declaration: that
    makes them three times as fast."""

    def __init__(self, recorder: ctypes.CDLL) -> None:
        self.enter = recorder["ttmem_region_enter"]
        self.leave = recorder["ttmem_region_leave"]
        self.make_room(1)

    def make_room(self, devices: int) -> None:
        self.devices = devices
        self.room = ctypes.c_uint64 * (3 * abi.FIGURES * devices)


_recorder: Optional[_Recorder] = None


class Region:
    """A block of code with a name, which whatever is made in it carries.

    It also has figures, by Metal id and kind, as bytes: `before` what was taken at its start; `peak`
    the most that was taken while it ran; `added` the most that it added, peak minus before; `left`
    what is taken at its end minus before (negative if it freed more than it made). Inside the block
    they are those of the moment. Sixteen regions measure at a time; further ones inside of them only
    name, and say so when they are asked for figures.
    """

    __slots__ = ("name", "_number", "_process", "_told")

    def __init__(self, name: str) -> None:
        self.name = name
        self._number = 0
        self._process = _OUTSIDE
        self._told: Any = None

    def __enter__(self) -> "Region":
        recorder = _recorder or _find()
        if recorder is not None:
            self._number = recorder.enter(_names.get(self.name) or _name(self.name))
            self._process = _process
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if _recorder is None or self._process != _process:
            return
        told = _recorder.room()
        known = _recorder.leave(self._number, told, _recorder.devices)
        while known > _recorder.devices:
            _recorder.make_room(known)
            told = _recorder.room()
            known = _recorder.leave(self._number, told, known)
        self._told = told
        self._process = _OUTSIDE

    def __call__(self, function: _Function) -> _Function:
        """As a decorator: each call is a region of its own."""
        name = self.name

        @functools.wraps(function)
        def named(*arguments: Any, **keywords: Any) -> Any:
            with Region(name):
                return function(*arguments, **keywords)

        return cast(_Function, named)

    @property
    def before(self) -> Dict[int, DeviceFigures]:
        return self._figures(_BEFORE)

    @property
    def peak(self) -> Dict[int, DeviceFigures]:
        return self._figures(_PEAK)

    @property
    def added(self) -> Dict[int, DeviceFigures]:
        return _difference(self.peak, self.before)

    @property
    def left(self) -> Dict[int, DeviceFigures]:
        return _difference(self._figures(_NOW), self.before)

    def __str__(self) -> str:
        return text.region_table(self.name, self.added, self.peak, self.left)

    def _figures(self, which: int) -> Dict[int, DeviceFigures]:
        if self._number == 0:
            raise self._no_figures()
        if self._told is not None:
            return figures.collect(lambda device, figure: self._told_of(device, figure, which))
        if which == _NOW:
            return figures.collect(figures.taken)
        watermark = Watermark.of(self._number)
        return watermark.at_open() if which == _BEFORE else watermark.peak()

    def _told_of(self, device: Device, figure: int, which: int) -> int:
        place = ((device.recorded - 1) * abi.FIGURES + figure) * 3 + which
        return int(self._told[place]) if place < len(self._told) else 0

    def _no_figures(self) -> RuntimeError:
        figures.require_recording()
        return RuntimeError(
            f"ttmem: region {self.name!r} has no figures: {MAX_WATERMARKS} regions around it "
            "measured already"
        )


def region(name: str) -> Region:
    """``with ttmem.region("attention") as r:`` names and measures a block; ``@ttmem.region("attention")``
    names each call of a function. Regions may be nested. In a process that nobody tracks it does
    nothing."""
    return Region(name)


def _find() -> Optional[_Recorder]:
    """The recorder, once this process is recorded or is going to be."""
    global _recorder
    recorder = recorder_if_tracked()
    if recorder is None:
        return None
    if _recorder is None:
        os.register_at_fork(after_in_child=_begin_anew)
    _recorder = _Recorder(recorder)
    return _recorder


def _begin_anew() -> None:
    global _process
    _process += 1
    _names.clear()


def _name(name: str) -> int:
    if len(_names) >= _MOST_NAMES:
        _names.clear()
    known = _names[name] = library.intern(name)
    return known


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
