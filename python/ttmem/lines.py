# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Names what ttnn allocates: the operation, and the line of Python outside ttnn that called it.

Every operation of ttnn is an object of one class. Its call is wrapped in a tag of the recorder, which
whatever is allocated meanwhile on that thread carries. This costs a few microseconds an operation,
so it is done only where somebody asks for it.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from . import library

_MODULE = "ttnn.decorators"
_CLASS = "FastOperation"
_names: Dict[str, int] = {}
_places: Dict[Tuple[CodeType, int], int] = {}
_waiting = False


def install() -> None:
    """Wraps ttnn's operations, now or as soon as ttnn is imported. May be called again."""
    global _waiting
    module = sys.modules.get(_MODULE)
    if module is not None and hasattr(module, _CLASS):
        _wrap(module)
    elif not _waiting:
        _waiting = True
        sys.meta_path.insert(0, _Waiting())


def _wrap(module: ModuleType) -> None:
    operation = getattr(module, _CLASS)
    if getattr(operation, "_named_by_ttmem", False):
        return
    operation._named_by_ttmem = True
    operation.__call__ = _naming(operation.__call__, os.path.dirname(str(module.__file__)))
    os.register_at_fork(after_in_child=_forget)


def _naming(original: Callable[..., Any], package: str) -> Callable[..., Any]:
    recorder = library.load()

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        recorder.ttmem_tag_push(
            _name(self.python_fully_qualified_name), _place(sys._getframe(1), package)
        )
        try:
            return original(self, *arguments, **keywords)
        finally:
            recorder.ttmem_tag_pop()

    return call


def _name(text: str) -> int:
    known = _names.get(text)
    if known is None:
        known = _names[text] = library.intern(text)
    return known


def _place(frame: Optional[FrameType], package: str) -> int:
    """The id of the innermost line outside the package; 0 if there is none."""
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
    if frame is None:
        return 0
    key = (frame.f_code, frame.f_lineno)
    known = _places.get(key)
    if known is None:
        known = _places[key] = library.load().ttmem_intern_line(
            os.fsencode(frame.f_code.co_filename),
            frame.f_lineno,
            frame.f_code.co_name.encode("utf-8", "replace"),
        )
    return known


def _forget() -> None:
    """A forked child has a segment of its own, where these ids mean nothing."""
    _names.clear()
    _places.clear()


class _Waiting(importlib.abc.MetaPathFinder):
    """Stands before the other finders until ttnn's module comes by, and wraps it once it ran."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        loader = spec.loader
        run = loader.exec_module

        def run_and_wrap(module: ModuleType) -> None:
            run(module)
            if hasattr(module, _CLASS):
                _wrap(module)

        loader.exec_module = run_and_wrap  # type: ignore[method-assign]
        return spec
