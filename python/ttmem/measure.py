# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The figures of one test: a watermark from before its fixtures to after them."""

import gc
import os
import time
from typing import Any, Dict, List, Optional, Tuple

from . import command, figures, text
from .figures import KINDS, DeviceFigures
from .track import track
from .watermark import Watermark

#: Holdings that a message lists.
_LISTED = 10


class TestFigures:
    """What a test took at most and what is left of it, by Metal id."""

    __test__ = False  # not a test itself, whatever its name

    def __init__(
        self,
        peak: Dict[int, DeviceFigures],
        left: Dict[int, DeviceFigures],
        began_ns: int,
        others_ns: List[Tuple[int, int]],
    ) -> None:
        self.peak = peak
        self.left = left
        self._began_ns = began_ns
        self._others_ns = others_ns

    def as_dict(self) -> Dict[str, Any]:
        """Numbers and strings only: it travels from xdist's workers to the controller."""
        return {
            "pid": os.getpid(),
            "peak": {str(one): dict(values._asdict()) for one, values in self.peak.items()},
            "left": {str(one): dict(values._asdict()) for one, values in self.left.items()},
        }

    def over_limit(self, kind: str, limit: object) -> List[str]:
        most = text.parse_bytes(limit)
        problems = []
        for metal_id, values in self.peak.items():
            value = getattr(values, kind)
            if value > most:
                problems.append(
                    f"{kind} of device {metal_id}: the test took {text.format_bytes(value)} "
                    f"({value} bytes), the limit is {text.format_bytes(most)}"
                )
        if problems:
            problems += ["the largest allocations of the test:", *self.largest(kind)]
        return problems

    def leaks(self) -> List[str]:
        """Buffers that were made in the test and are held after it."""
        left = [one for one in _own_buffers() if self._made_here(one["since_ns"])]
        # A cached program keeps its binaries, for the next test too.
        left = [one for one in left if not one["kernel_binaries"]]
        if not left:
            return []
        left.sort(key=lambda one: -(one["taken"] or one["requested"] or 0))
        total = sum(one["taken"] or one["requested"] or 0 for one in left)
        many = "1 buffer outlives" if len(left) == 1 else f"{len(left)} buffers outlive"
        head = f"{many} the test ({text.format_bytes(total)} per device):"
        return [head, *(_line(one) for one in left[:_LISTED]), *_more(len(left))]

    def largest(self, kind: str) -> List[str]:
        """The largest allocations of this kind that the test made."""
        made = [
            one
            for one in command.documents("events")
            if one["event"] == "buffer_allocated"
            and one["pid"] == os.getpid()
            and one["space"] == kind
            and self._made_here(one["time_ns"])
        ]
        made.sort(key=lambda one: -(one["taken"] or one["requested"] or 0))
        return [*(_line(one) for one in made[:_LISTED]), *_more(len(made))]

    def _made_here(self, time_ns: Optional[int]) -> bool:
        if time_ns is None or time_ns < self._began_ns:
            return False
        return not any(began <= time_ns <= ended for began, ended in self._others_ns)


#: When something that is not the test's own began, and what was taken then.
Pause = Tuple[int, Dict[int, DeviceFigures]]


class Session:
    """One measurement at a time, of the test that runs."""

    def __init__(self) -> None:
        if track(lines=True).how == "disabled":
            raise RuntimeError("ttmem: TTMEM_DISABLE is set: there is nothing to measure")
        self._watermark: Optional[Watermark] = None
        self._before: Dict[int, DeviceFigures] = {}
        self._began_ns = 0
        self._others: Dict[int, DeviceFigures] = {}
        self._others_ns: List[Tuple[int, int]] = []

    def begin(self, name: str) -> None:
        self._before = figures.collect(figures.taken)
        self._watermark = Watermark(name)
        self._began_ns = time.time_ns()
        self._others = {}
        self._others_ns = []

    def pause(self) -> Pause:
        """Something that is not the test's own begins to allocate or free."""
        return time.time_ns(), figures.collect(figures.taken)

    def resume(self, began: Pause) -> None:
        began_ns, before = began
        self._others_ns.append((began_ns, time.time_ns()))
        for metal_id, values in figures.collect(figures.taken).items():
            grown = _minus(values, before.get(metal_id, DeviceFigures()))
            self._others[metal_id] = _plus(self._others.get(metal_id, DeviceFigures()), grown)

    def end(self) -> Optional[TestFigures]:
        """The figures of the test, after all its fixtures ended."""
        figures_of_test = self.look_at_rest()
        self.abandon()
        return figures_of_test

    def look_at_rest(self) -> Optional[TestFigures]:
        """The figures so far, without what only the garbage collector still holds."""
        gc.collect()
        return self.look()

    def look(self) -> Optional[TestFigures]:
        """The figures so far."""
        if self._watermark is None:
            return None
        peak = self._watermark.peak()
        left = {}
        for metal_id, values in figures.collect(figures.taken).items():
            base = _plus(
                self._before.get(metal_id, DeviceFigures()),
                self._others.get(metal_id, DeviceFigures()),
            )
            left[metal_id] = _minus(values, base)
        return TestFigures(peak, left, self._began_ns, self._others_ns)

    def abandon(self) -> None:
        if self._watermark is not None:
            self._watermark.close()
            self._watermark = None


def _own_buffers() -> List[Dict[str, Any]]:
    held = command.document("dump")["holdings"]
    return [one for one in held if one["kind"] == "buffer" and one["pid"] == os.getpid()]


def _line(one: Dict[str, Any]) -> str:
    size = one["taken"] if one["taken"] is not None else one["requested"]
    devices = ", ".join(str(d if isinstance(d, int) else d["id"]) for d in one["devices"])
    parts = [f"  {text.format_bytes(size or 0)} of {one['space']} on device {devices}"]
    if one["operation"]:
        parts.append(f"by {one['operation']}")
    if one["line"]:
        parts.append(f"at {one['line']}")
    return " ".join(parts)


def _more(count: int) -> List[str]:
    return [f"  ... and {count - _LISTED} more"] if count > _LISTED else []


def _minus(a: DeviceFigures, b: DeviceFigures) -> DeviceFigures:
    return DeviceFigures(*(getattr(a, kind) - getattr(b, kind) for kind in KINDS))


def _plus(a: DeviceFigures, b: DeviceFigures) -> DeviceFigures:
    return DeviceFigures(*(getattr(a, kind) + getattr(b, kind) for kind in KINDS))
