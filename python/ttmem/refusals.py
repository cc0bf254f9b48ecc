# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Records what an operation refused in words of its own, because it found too little memory.

What the allocator and the checks of programs refuse, the hooks see. Some operations count by
themselves what they need, and only their exception tells: it is recorded where it leaves the program
or a thread, and where somebody asks what it means. It is still the one that was raised.
"""

import ctypes
import os
import re
import sys
import threading
from ctypes import c_char_p, c_size_t, c_uint16, c_uint32, c_uint64
from types import TracebackType
from typing import Any, Iterator, List, Optional, Set, Tuple

from . import lines

_REFUSED = re.compile(r"TT_(?:FATAL|THROW) @ ")
_OF_MEMORY = re.compile(r"\b(?:L1|DRAM|memory|circular buffers?|CBs?)\b", re.IGNORECASE)
_TOO_LITTLE = re.compile(r"\b\d+ ?(?:B|bytes)\b|\bexceeds?\b|\bnot fit\b|\bnot enough\b", re.IGNORECASE)
#: What the hooks have recorded already.
_SEEN_BY_HOOKS = (
    "Out of Memory: ",
    "Statically allocated ",
    "Program size (",
    "Creating trace buffers of size ",
    "Trace buffer at address ",
)
_OTHER, _L1 = 5, 1  # TTMEM_FAILURE_OTHER, TTMEM_SPACE_L1
_FRAME, _OPERATION = 1, 2  # TTMEM_STEP_*
_INNER = 1  # TTMEM_FRAME_INNER
_LINES_ON = 1  # TTMEM_LINES_ON
_MOST_FRAMES = 64
_ELSEWHERE = "ttmem_start.refusals"  # this file, as `ttmem run` starts it

_recorded: Optional[Tuple[int, str]] = None  # the last one


class Failure(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_uint32),
        ("message", c_char_p),
        ("requested", c_uint64),
        ("per_bank", c_uint64),
        ("program", c_uint64),
        ("cores", c_uint32),
        ("set", c_uint16),
        ("allocator", c_uint16),
        ("space", c_uint32),
        ("operation", c_uint32),
        ("origin", c_uint32),
    ]


class Step(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("what", c_uint32)]


def start() -> None:
    """From now on, whatever leaves the program or a thread."""
    if getattr(sys.excepthook, "records_refusals", False):
        return
    before, before_thread = sys.excepthook, threading.excepthook

    def hook(kind: Any, value: Any, trace: Any) -> None:
        record(value)
        before(kind, value, trace)

    def thread_hook(told: Any) -> None:
        record(told.exc_value)
        before_thread(told)

    hook.records_refusals = True  # type: ignore[attr-defined]
    sys.excepthook = hook
    threading.excepthook = thread_hook


def record(error: Optional[BaseException]) -> None:
    """Records the refusal that `error` tells, or came of; nothing, if there is none, or it was
    recorded already."""
    ours = sys.modules.get(_ELSEWHERE)
    if ours is not None and ours.__name__ != __name__:
        ours.record(error)
        return
    try:
        _record(error)
    except Exception:  # pylint: disable=broad-except
        pass  # it must never hide the error


def _record(error: Optional[BaseException]) -> None:
    global _recorded
    for each in chain(error):
        words = refusal_of(each)
        if words is None or _recorded == (id(each), words):
            continue
        recorder = _recorder()
        if recorder is None:
            return
        _recorded = (id(each), words)
        steps = list(_steps(recorder, each.__traceback__))[-_MOST_FRAMES:]
        failure = Failure(struct_size=ctypes.sizeof(Failure), kind=_OTHER, space=_L1,
                          message=words.encode("utf-8", "replace"))
        failure.origin = recorder.ttmem_intern_stack(0, (Step * len(steps))(*steps), len(steps))
        failure.operation = next((step.what for step in reversed(steps) if step.kind == _OPERATION), 0)
        recorder.ttmem_failed(ctypes.byref(failure))
        return


def refusal_of(error: BaseException) -> Optional[str]:
    """TT-Metal's words, if they are about memory and none that the hooks know."""
    text = str(error)
    if not isinstance(error, RuntimeError) or not _REFUSED.match(text):
        return None
    words = text.split("\ninfo:\n", 1)[-1].split("\nbacktrace:", 1)[0].strip()
    if any(known in words for known in _SEEN_BY_HOOKS):
        return None
    return words if _OF_MEMORY.search(words) and _TOO_LITTLE.search(words) else None


def chain(error: Optional[BaseException]) -> Iterator[BaseException]:
    """It, and what it came of."""
    seen: Set[int] = set()
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]


def _recorder() -> Optional[ctypes.CDLL]:
    observer = lines.hooks()
    if observer is None:
        return None
    text = [c_char_p, c_size_t]
    for name, result, arguments in (
        ("ttmem_intern_string", c_uint32, text),
        ("ttmem_intern_frame", c_uint32, [*text, c_uint32, *text, c_uint32]),
        ("ttmem_intern_stack", c_uint32, [c_uint32, ctypes.POINTER(Step), c_uint32]),
        ("ttmem_failed", c_uint32, [ctypes.POINTER(Failure)]),
    ):
        function = getattr(observer, name)
        function.restype, function.argtypes = result, arguments
    return observer


def _steps(recorder: ctypes.CDLL, trace: Optional[TracebackType]) -> Iterator[Step]:
    """From the outermost call to the innermost. Without lines, its operation alone."""
    has_lines = recorder.ttmem_lines_state() == _LINES_ON
    while trace is not None:
        frame, line = trace.tb_frame, trace.tb_lineno
        operation = lines.operation_of(frame)
        if operation:
            name = operation.encode("utf-8", "replace")
            yield Step(_OPERATION, recorder.ttmem_intern_string(name, len(name)))
        elif has_lines:
            path = os.fsencode(frame.f_code.co_filename)
            function = frame.f_code.co_name.encode("utf-8", "replace")
            inner = _INNER if lines.is_of_ttnn(frame) else 0
            yield Step(_FRAME, recorder.ttmem_intern_frame(path, len(path), line, function, len(function), inner))
        trace = trace.tb_next
