# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Finds and loads libttmem.so, the recorder of this process.

A process must have one recorder. So a libttmem.so that is in the process already, because hooks or
another library brought it, is always taken before the copy that came with this package.
"""

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint16, c_uint32, c_uint64
from typing import Iterator, List, Optional, Tuple

from . import abi

LIBRARY = "libttmem.so.1"

#: Every function that Python calls: name, result, arguments.
_FUNCTIONS: List[Tuple[str, object, List[object]]] = [
    ("ttmem_process_described", None, [POINTER(abi.ProcessInfo)]),
    ("ttmem_open", c_int, []),
    ("ttmem_close", None, []),
    ("ttmem_segment_path", c_char_p, []),
    ("ttmem_intern_string", c_uint32, [c_char_p, c_size_t]),
    ("ttmem_intern_cores", c_uint32, [c_uint32, POINTER(abi.CoreRange), c_uint32]),
    ("ttmem_intern_line", c_uint32, [c_char_p, c_uint32, c_char_p]),
    ("ttmem_device_opened", c_uint16, [POINTER(abi.DeviceInfo)]),
    ("ttmem_device_closed", None, [c_uint16]),
    ("ttmem_device_set", c_uint16, [POINTER(abi.SetInfo)]),
    ("ttmem_allocator_opened", c_uint16, [POINTER(abi.AllocatorInfo)]),
    ("ttmem_allocator_cleared", None, [c_uint16]),
    ("ttmem_allocator_closed", None, [c_uint16]),
    ("ttmem_buffer_allocated_", None, [POINTER(abi.Buffer)]),
    ("ttmem_buffer_freed_", None, [c_uint16, c_uint32, c_uint64]),
    ("ttmem_tag_push", None, [c_uint32, c_uint32]),
    ("ttmem_tag_pop", None, []),
    ("ttmem_program_registered", None, [POINTER(abi.Program)]),
    ("ttmem_program_released", None, [c_uint64]),
    ("ttmem_workload_created", c_uint64, [c_uint64, c_uint16]),
    ("ttmem_workload_joined", None, [c_uint64, c_uint64, c_uint16]),
    ("ttmem_workload_released", None, [c_uint64]),
    ("ttmem_dispatched_", None, [c_uint64, c_uint32, c_uint32, c_uint32]),
    ("ttmem_hooked", c_int, []),
    ("ttmem_device_read", c_int, [c_uint16, POINTER(abi.DeviceIdentity)]),
    ("ttmem_self", c_int, [c_uint16, c_uint32, POINTER(abi.Figures)]),
    ("ttmem_watermark_open", c_uint32, [c_uint32]),
    ("ttmem_watermark_read", c_int, [c_uint32, c_uint16, c_uint32, POINTER(abi.Figures)]),
    ("ttmem_watermark_close", None, [c_uint32]),
]

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def native_directory() -> str:
    """Where an installed package keeps its binaries: `bin`, `lib`."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")


def already_loaded() -> Optional[str]:
    """The path of a libttmem.so that is mapped into this process."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and os.path.basename(fields[5]).startswith("libttmem.so"):
                return fields[5]
    return None


def candidates() -> Iterator[str]:
    """Where libttmem.so may be, best first."""
    loaded = already_loaded()
    if loaded:
        yield loaded
    named = os.environ.get("TTMEM_LIBRARY")
    if named:
        yield named
    yield os.path.join(native_directory(), "lib", LIBRARY)
    yield LIBRARY


def load() -> ctypes.CDLL:
    """The recorder. Raises OSError with what was tried if there is none."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _declare(_open())
        return _loaded


def _open() -> ctypes.CDLL:
    tried = []
    for path in candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as reason:
            tried.append(str(reason))
    raise OSError(
        "ttmem: no libttmem.so; install the package with `pip install ttmem-*.whl`, or name the library in "
        "TTMEM_LIBRARY (" + "; ".join(tried) + ")"
    )


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, result, arguments in _FUNCTIONS:
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def intern(text: str) -> int:
    """The id of a string in this process's segment."""
    data = text.encode("utf-8", "replace")
    return int(load().ttmem_intern_string(data, len(data)))


def enabled() -> bool:
    """Whether this process records: not with TTMEM_DISABLE=1, nor before anything was recorded."""
    return c_int.in_dll(load(), "ttmem_active_").value != 0
