# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Tell where the steps of a loop begin, so that what grows from step to step can be named."""

import os
from typing import Any, Optional

from . import library
from .track import PRELOAD

_next_step: Optional[Any] = None


def step() -> None:
    """The next step begins: a token, a batch, whatever the loop does again and again. One event in the
    segment, which `ttmem leaks` and `ttmem top` use; in a process that nobody tracks it does nothing."""
    call = _next_step or _find()
    if call is not None:
        call()


def _find() -> Optional[Any]:
    """The call, once this process is recorded or is going to be."""
    global _next_step
    try:
        recorder = library.load()
    except OSError:  # the model runs without it
        return None
    if not recorder.ttmem_segment_path() and PRELOAD not in os.environ.get("LD_PRELOAD", ""):
        return None
    call = getattr(recorder, "ttmem_next_step", None)  # a library of another release may be loaded
    if call is not None:
        call.restype = None
    _next_step = call
    return call
