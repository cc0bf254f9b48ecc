# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Tell where the steps of a loop begin, so that what grows from step to step can be named."""

from typing import Any, Optional

from .track import recorder_if_tracked

_next_step: Optional[Any] = None


def step() -> None:
    """The next step begins: a token, a batch, whatever the loop does again and again. One event in the
    segment, which `ttmem leaks` and `ttmem top` use; in a process that nobody tracks it does nothing."""
    call = _next_step or _find()
    if call is not None:
        call()


def _find() -> Optional[Any]:
    global _next_step
    recorder = recorder_if_tracked()
    call = getattr(recorder, "ttmem_next_step", None)  # a library of another release may be loaded
    if call is not None:
        call.restype = None
    _next_step = call
    return call
