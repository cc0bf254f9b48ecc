# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The recorder's two calls of a region, as fast as this Python can make them.

`enter(name)` gives the number of the region's watermark, 0 if it only names. `leave(number)` gives
bytes: for each figure of each device what was taken when it was entered, the most since, what is
taken now.
"""

import ctypes
from ctypes import c_char_p, c_int, c_void_p
from typing import Any, Callable, List, Tuple

from . import abi

Call = Callable[[int], Any]

_WORDS = 3 * abi.FIGURES
_METH_O = 0x0008
_kept: List[object] = []  # what the functions point to


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("call", c_void_p), ("flags", c_int), ("doc", c_char_p)]


class _PythonCalls(ctypes.Structure):
    _fields_ = [("number_of", c_void_p), ("new_number", c_void_p), ("new_bytes", c_void_p)]


def of(recorder: ctypes.CDLL) -> Tuple[Call, Call]:
    """`enter` and `leave`."""
    try:
        return _direct(recorder, ctypes.pythonapi)
    except AttributeError:  # not CPython, or a recorder that came before these functions
        return _by_ctypes(recorder)


def _direct(recorder: ctypes.CDLL, python: ctypes.PyDLL) -> Tuple[Call, Call]:
    """Functions that the interpreter calls like its own, which takes a fifth of the time of ctypes."""
    needs = (python.PyLong_AsUnsignedLongMask, python.PyLong_FromUnsignedLong)
    calls = _PythonCalls(*map(_address, (*needs, python.PyBytes_FromStringAndSize)))
    recorder.ttmem_python_prepare(ctypes.byref(calls))
    return (
        _function(python, b"enter", recorder.ttmem_python_region_enter),
        _function(python, b"leave", recorder.ttmem_python_region_leave),
    )


def _address(function: Any) -> Any:
    return ctypes.cast(function, c_void_p).value


def _function(python: ctypes.PyDLL, name: bytes, call: Any) -> Call:
    definition = _MethodDef(name, _address(call), _METH_O, None)
    _kept.append(definition)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_void_p, c_void_p)
    return make(_address(python.PyCFunction_NewEx))(ctypes.addressof(definition), None, None)  # type: ignore[no-any-return]


def _by_ctypes(recorder: ctypes.CDLL) -> Tuple[Call, Call]:
    def leave(number: int) -> bytes:
        devices, known = 0, 1
        while known > devices:
            devices = known
            words = (ctypes.c_uint64 * (_WORDS * devices))()
            known = recorder.ttmem_region_leave(number, words, devices)
        return bytes(words)

    return recorder.ttmem_region_enter, leave
