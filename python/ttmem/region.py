# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Name a block of code, and measure it: what it added, its peak, and what it left behind."""

import functools
import inspect
import os
from types import TracebackType, coroutine
from typing import Any, Callable, Dict, Generator, Optional, Tuple, Type, TypeVar, cast

from . import abi, figures, library, lines, region_calls, text
from .figures import KINDS, Device, DeviceFigures
from .region_calls import Call
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
#: Once the recorder was found.
_enter: Optional[Call] = None
_leave: Optional[Call] = None


class Region:
    """``with ttmem.region("attention") as r:`` names and measures a block of code: whatever is made in
    it carries the name. ``@ttmem.region("attention")`` names each call of a function; of a coroutine or
    a generator it names what runs inside of it, and nothing of what runs while it waits. Regions may
    be nested. In a process that nobody tracks they do nothing.

    A region has figures, by Metal id and kind, as bytes: `before` what was taken at its start; `peak`
    the most that was taken while it ran; `added` the most that it added, peak minus before; `left`
    what is taken at its end minus before (negative if it freed more than it made). Inside the block
    they are those of the moment. Sixteen regions measure at a time; further ones inside of them only
    name, and say so when they are asked for figures.
    """

    __slots__ = ("name", "_number", "_outer", "_process", "_told")

    def __init__(self, name: str) -> None:
        self.name = name
        self._number = 0
        self._outer: Optional[Tuple[int, Any]] = None  # the same object was entered inside of itself
        self._process = _OUTSIDE
        self._told: Optional[bytes] = None

    def __enter__(self) -> "Region":
        if _enter is not None or _find():
            self._outer = (self._number, self._outer) if self._process == _process else None
            self._number = _enter(_names.get(self.name) or _name(self.name))  # type: ignore[misc]
            self._process = _process
            self._told = None
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if self._process == _process:
            self._told = _leave(self._number)  # type: ignore[misc]
            if self._outer is None:
                self._process = _OUTSIDE
            else:
                self._number, self._outer = self._outer
                self._told = None

    def __call__(self, function: _Function) -> _Function:
        """As a decorator: each call is a region of its own."""
        name = self.name
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*arguments: Any, **keywords: Any) -> Any:
                return await _named_coroutine(name, function(*arguments, **keywords).__await__())

            return cast(_Function, awaited)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def stepped(*arguments: Any, **keywords: Any) -> Any:
                return (yield from _named_steps(name, function(*arguments, **keywords)))

            return cast(_Function, stepped)

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
        told = memoryview(self._told or b"").cast("Q")
        place = ((device.recorded - 1) * abi.FIGURES + figure) * 3 + which
        return int(told[place]) if place < len(told) else 0

    def _no_figures(self) -> RuntimeError:
        figures.require_recording()
        return RuntimeError(
            f"ttmem: region {self.name!r} has no figures: {MAX_WATERMARKS} regions around it "
            "measured already"
        )


region = Region  # a function in between would cost a tenth of it


def _named_steps(name: str, body: Any) -> Generator[Any, Any, Any]:
    """A generator, each of its steps in the region: while it waits, its thread runs other things."""
    go_on, what = body.send, None
    while True:
        try:
            with Region(name):
                told = go_on(what)
        except StopIteration as end:
            return end.value
        try:
            go_on, what = body.send, (yield told)
        except BaseException as reason:  # its consumer throws into it, or closes it
            go_on, what = body.throw, reason


_named_coroutine = coroutine(_named_steps)


def _find() -> bool:
    """Finds the recorder, once this process is recorded or is going to be."""
    global _enter, _leave
    recorder = recorder_if_tracked()
    if recorder is None:
        return False
    os.register_at_fork(after_in_child=_begin_anew)
    lines.leave_out(__file__)
    _enter, _leave = region_calls.of(recorder)
    return True


def _begin_anew() -> None:
    global _process
    _process += 1
    _names.clear()


def _name(name: str) -> int:
    if len(_names) >= _MOST_NAMES:
        _names.clear()
    known = _names[name] = library.intern(str(name) or "(no name)")
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
