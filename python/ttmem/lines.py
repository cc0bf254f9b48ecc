# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Switches on that whatever is recorded names its line of Python and its operation of ttnn.

A thread that allocates reads its own frames, inside the hook and without Python's lock, which costs
some ten nanoseconds. That is done only after a test in this very interpreter: its stack, read as
carefully as can be, must equal what Python itself says of it. The names of ttnn's operations are
handed over once; no call of ttnn is wrapped.
"""

import atexit
import ctypes
import functools
import gc
import importlib.abc
import importlib.machinery
import os
import sys
import threading
from ctypes import c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

OBSERVER = "libttmem_observer.so"
#: Beside one of these, which brought the hooks into the process.
_BESIDE = ("libttmem_preload.so", "libttmem_patch.so", OBSERVER)
_ON, _OFF, _REFUSED = 1, 2, 3  # TTMEM_LINES_*
_MOST_FRAMES = 64
_MOST_CHARACTERS = 1000
_MODULE = "ttnn.decorators"
_CLASSES = ("FastOperation", "Operation")

_observer: Optional[ctypes.CDLL] = None
_started = False
_result: Optional[str] = None
_kept: List[object] = []  # their addresses are known to the observer


class _Interpreter(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("version", c_uint32),
        ("frame_type", c_void_p),
        ("code_type", c_void_p),
        ("text_type", c_void_p),
        ("bytes_type", c_void_p),
        ("this_thread", c_void_p),
        ("runtime", c_void_p),
        ("main_thread", c_uint64),
    ]


def start() -> Optional[str]:
    """Switches the lines on. None, or why they are off. May be called again."""
    global _started, _result
    if not _started:
        _started = True
        _result = _start()
    return _result


def _start() -> Optional[str]:
    observer = _load()
    if observer is None:
        return "there is no " + OBSERVER
    if "ttnn" not in sys.modules and _passes_by(observer):
        return "libraries are loaded with RTLD_DEEPBIND"
    if observer.ttmem_lines_state() == _ON:  # a start file was here before
        return None
    if _MODULE not in sys.modules:
        sys.meta_path.insert(0, _Waiting(observer))
    if os.environ.get("TTMEM_LINES", "1") in ("0", "false", "no", "off"):
        observer.ttmem_lines_switch_off(_OFF, None)
        return "TTMEM_LINES is off"
    reason = _refusal() or _text(_prepare(observer)) or _test(observer.ttmem_lines_compare)
    if reason is not None:
        observer.ttmem_lines_switch_off(_REFUSED, reason.encode("utf-8", "replace"))
        return reason
    leave_out(__file__)
    _learn_what_is_there()
    observer.ttmem_lines_switch_on()
    # An interpreter that ends takes the frames of its threads away.
    atexit.register(observer.ttmem_lines_end)
    return None


def decline() -> None:
    """Says that lines were not asked for. Those that are on stay on."""
    observer = None if _started else _load()
    if observer is not None and observer.ttmem_lines_state() != _ON:
        observer.ttmem_lines_switch_off(_OFF, None)


def leave_out(file: str) -> None:
    """What is in the folder of this file, which is ours, is no part of the program's stacks."""
    observer = _load()
    if observer is not None:
        observer.ttmem_lines_pass_over(_folder(file), 1)


def hooks() -> Optional[ctypes.CDLL]:
    """The library that reads the lines, and through it the recorder; None without hooks."""
    return _load()


def is_of_ttnn(frame: FrameType) -> bool:
    module = sys.modules.get(_MODULE)
    folder = os.path.dirname(str(getattr(module, "__file__", "")))
    return bool(folder) and frame.f_code.co_filename.startswith(os.path.join(folder, ""))


def operation_of(frame: FrameType) -> Optional[str]:
    """The name of ttnn's operation, if this frame is its call."""
    called = frame.f_locals.get("self") if frame.f_code.co_name == "__call__" else None
    name = getattr(called, "python_fully_qualified_name", None)
    return name if isinstance(name, str) else None


def _passes_by(observer: ctypes.CDLL) -> bool:
    """Whether what is loaded now calls its own functions and passes by those that were preloaded."""
    if not sys.getdlopenflags() & getattr(os, "RTLD_DEEPBIND", 0):
        return False
    observer.ttmem_observer_unreached()
    return True


def _load() -> Optional[ctypes.CDLL]:
    global _observer
    if _observer is not None:
        return _observer
    for path in _candidates():
        if not os.path.exists(path):
            continue
        observer = ctypes.CDLL(path)
        for name, result, arguments in (
            ("ttmem_lines_prepare", c_char_p, [ctypes.POINTER(_Interpreter)]),
            ("ttmem_lines_compare", c_char_p, [c_char_p, c_size_t]),
            ("ttmem_lines_pass_over", None, [c_char_p, ctypes.c_int]),
            ("ttmem_lines_state", c_uint32, []),
            ("ttmem_lines_switch_on", None, []),
            ("ttmem_lines_switch_off", None, [c_uint32, c_char_p]),
            ("ttmem_lines_end", None, []),
            ("ttmem_observer_unreached", None, []),
            ("ttmem_lines_operation_call", None, [c_void_p]),
            ("ttmem_lines_operation", None, [c_void_p, c_char_p]),
        ):
            function = getattr(observer, name)
            function.restype = result
            function.argtypes = arguments
        _observer = observer
        break
    return _observer


def _candidates() -> Iterator[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and os.path.basename(fields[5]) in _BESIDE:
                yield os.path.join(os.path.dirname(fields[5]), OBSERVER)


def _folder(file: str) -> bytes:
    return os.fsencode(os.path.join(os.path.dirname(os.path.abspath(file)), ""))


def _text(reason: Optional[bytes]) -> Optional[str]:
    return None if reason is None else reason.decode("utf-8", "replace")


# ---- the test --------------------------------------------------------------------------------


def _refusal() -> Optional[str]:
    if sys.implementation.name != "cpython":
        return "this is not CPython but " + sys.implementation.name
    flags = getattr(sys, "abiflags", "")
    if "d" in flags or hasattr(sys, "gettotalrefcount"):
        return "this is a debug build of Python"
    if "t" in flags or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "this is a free-threaded build of Python"
    return None


def _prepare(observer: ctypes.CDLL) -> Optional[bytes]:
    python = ctypes.pythonapi
    interpreter = _Interpreter(
        struct_size=ctypes.sizeof(_Interpreter),
        version=sys.hexversion >> 16,
        frame_type=id(FrameType),
        code_type=id(CodeType),
        text_type=id(str),
        bytes_type=id(bytes),
        this_thread=ctypes.cast(python.PyGILState_GetThisThreadState, c_void_p).value,
        main_thread=threading.main_thread().ident or 0,
    )
    if sys.version_info >= (3, 13):
        interpreter.runtime = ctypes.addressof(ctypes.c_char.in_dll(python, "_PyRuntime"))
    return observer.ttmem_lines_prepare(ctypes.byref(interpreter))  # type: ignore[no-any-return]


def _test(compare: Callable[..., Optional[bytes]]) -> Optional[str]:
    """What Python says of a few stacks, against what is read of them."""
    for stack in (_of_a_call, _of_a_generator, _of_odd_names):
        difference = stack(compare)
        if difference is not None:
            return "its stack is not read right: " + (_text(difference) or "")
    return None


def _of_a_call(compare: Callable[..., Optional[bytes]]) -> Optional[bytes]:
    return compare(*_told(sys._getframe()))


def _of_a_generator(compare: Callable[..., Optional[bytes]]) -> Optional[bytes]:
    def differences() -> Iterator[Optional[bytes]]:
        yield None
        yield (lambda: compare(*_told(sys._getframe())))()

    return [difference for difference in differences()][1]


def _of_odd_names(compare: Callable[..., Optional[bytes]]) -> Optional[bytes]:
    names: Dict[str, Any] = {"compare": compare, "told": _told, "frame": sys._getframe}
    source = "\n" * 300 + "def \u00e4\u4e2d\U0001d4b3():\n\n\n  return compare(*told(frame()))\n"
    exec(compile(source, "<\u00e9\u4e2d\U0001f600\udc80>", "exec"), names)
    return names["\u00e4\u4e2dX"]()  # type: ignore[no-any-return]


def _told(frame: Optional[FrameType]) -> Tuple[bytes, int]:
    texts: List[bytes] = []
    while frame is not None and len(texts) < 3 * _MOST_FRAMES:
        texts.append(_utf8(frame.f_code.co_filename))
        texts.append(_utf8(frame.f_code.co_name))
        texts.append(b"%d" % (frame.f_lineno or 0))
        frame = frame.f_back
    told = b"".join(text + b"\0" for text in texts)
    return told, len(told)


def _utf8(text: str) -> bytes:
    text = text[-_MOST_CHARACTERS:]
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(c.encode("utf-8", "replace") for c in text)


# ---- the operations of ttnn ------------------------------------------------------------------


def _learn_what_is_there() -> None:
    module = sys.modules.get(_MODULE)
    if module is None or not hasattr(module, _CLASSES[0]):
        return
    _learn(module)
    kinds = tuple(filter(None, (getattr(module, name, None) for name in _CLASSES)))
    for found in gc.get_objects():
        if type(found) in kinds:
            _name(found)


def _learn(module: ModuleType) -> None:
    """Each operation is an object of one of these classes; it is named when it is made."""
    assert _observer is not None
    _observer.ttmem_lines_pass_over(_folder(str(module.__file__)), 0)
    for kind in filter(None, (getattr(module, name, None) for name in _CLASSES)):
        code = getattr(kind.__call__, "__code__", None)
        if code is None or "_made_by_ttnn" in vars(kind):
            continue
        kind._made_by_ttnn = kind.__init__
        kind.__init__ = _naming(kind.__init__)
        _kept.append(code)
        _observer.ttmem_lines_operation_call(id(code))


def _naming(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def make_and_name(self: Any, *arguments: Any, **keywords: Any) -> None:
        make(self, *arguments, **keywords)
        _name(self)

    return make_and_name


def _name(operation: Any) -> None:
    name = getattr(operation, "python_fully_qualified_name", None)
    if isinstance(name, str) and _observer is not None:
        _observer.ttmem_lines_operation(id(operation), name.encode("utf-8", "replace"))


class _Waiting(importlib.abc.MetaPathFinder):
    """Stands before the other finders until ttnn's module comes by, and learns from it once it ran."""

    def __init__(self, observer: ctypes.CDLL) -> None:
        self._observer = observer

    def find_spec(
        self, name: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        # What the program said of loading since.
        if _passes_by(self._observer) or self._observer.ttmem_lines_state() != _ON:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        loader = spec.loader
        run = loader.exec_module

        def run_and_learn(module: ModuleType) -> None:
            run(module)
            _learn(module)

        loader.exec_module = run_and_learn  # type: ignore[method-assign]
        return spec
