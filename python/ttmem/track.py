# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Hook this process, whether TT-Metal is loaded already or not.

Before it is loaded, the hooks are put in front of it, as `ttmem run` does it. Afterwards, every
loaded library that calls it is made to call the hooks, and what the allocators hold already is read
from them.
"""

import ctypes
import errno
import os
from typing import Iterator, NamedTuple, Optional

from . import explaining, library, refusals
from . import lines as lines_of_python

PRELOAD = "libttmem_preload.so"
PATCH = "libttmem_patch.so"
RUNTIME = "libtt_metal.so"


def recorder_if_tracked() -> Optional[ctypes.CDLL]:
    """The recorder, once this process is recorded or is going to be; a model runs without it too."""
    try:
        recorder = library.load()
    except OSError:
        return None
    tracked = recorder.ttmem_segment_path() or PRELOAD in os.environ.get("LD_PRELOAD", "")
    return recorder if tracked else None


class Tracking(NamedTuple):
    """How this process came to be tracked.

    `how` is "preloaded" (by `ttmem run`), "ahead" (hooked before the runtime was loaded), "patched"
    (hooked in the running process) or "disabled" (TTMEM_DISABLE is set). `slots` counts the words
    that were patched by this call.
    """

    how: str
    slots: int = 0


class _PatchResult(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("hooks", ctypes.c_uint32),
        ("slots", ctypes.c_uint32),
        ("protected_slots", ctypes.c_uint32),
        ("failed", ctypes.c_uint32),
        ("libraries", ctypes.c_uint32),
    ]


_ahead: Optional[ctypes.CDLL] = None


def track(lines: bool = True, explain: bool = False) -> Tracking:
    """Records this process from now on. May be called at any time and again.

    `lines`: whatever is recorded also carries its line of Python and its operation of ttnn, unless
    TTMEM_LINES=0 is set or this Python's frames cannot be read. Call it again after more libraries that use TT-Metal were loaded into a patched
    process.

    `explain`: where an exception leaves the program uncaught and something did not fit, the verdict
    of `ttmem explain` and its first cure are printed after the traceback.
    """
    tracking = _hook()
    if tracking.how == "disabled":
        return tracking
    if lines:
        lines_of_python.start()
    else:
        lines_of_python.decline()
    refusals.start()
    if explain:
        explaining.start()
    return tracking


def _hook() -> Tracking:
    global _ahead
    if os.environ.get("TTMEM_DISABLE", "0") not in ("", "0"):
        return Tracking("disabled")
    recorder = library.load()
    if _ahead is not None:
        return Tracking("ahead")
    if _mapped(PRELOAD):
        recorder.ttmem_open()  # the hooks do it when the runtime is loaded, which may be later
        return Tracking("preloaded")
    if _mapped(RUNTIME):
        return _patch()
    recorder.ttmem_open()
    _ahead = ctypes.CDLL(_find(PRELOAD), mode=ctypes.RTLD_GLOBAL)
    return Tracking("ahead")


def _patch() -> Tracking:
    patch = ctypes.CDLL(_find(PATCH)).ttmem_patch
    patch.argtypes = [ctypes.POINTER(_PatchResult)]
    result = _PatchResult(struct_size=ctypes.sizeof(_PatchResult))
    error = patch(ctypes.byref(result))
    if error == errno.EALREADY:
        return Tracking("preloaded")
    if error != 0:
        raise RuntimeError(f"ttmem: this process cannot be hooked: {os.strerror(error)}")
    return Tracking("patched", result.slots)


def _mapped(name: str) -> bool:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        return any(os.path.basename(line.rstrip("\n")).startswith(name) for line in maps)


def _directories() -> Iterator[str]:
    named = os.environ.get("TTMEM_INJECTOR_DIR")
    if named:
        yield named
    native = library.native_directory()
    yield os.path.join(native, "lib", "ttmem")
    yield os.path.join(native, "lib")
    loaded = library.already_loaded()
    if loaded:
        yield os.path.join(os.path.dirname(loaded), "ttmem")
        yield os.path.dirname(loaded)


def _find(name: str) -> str:
    for directory in _directories():
        path = os.path.join(directory, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(
        f"ttmem: no {name}; install the package with `pip install ttmem-*.whl`, or name its folder in "
        "TTMEM_INJECTOR_DIR"
    )
