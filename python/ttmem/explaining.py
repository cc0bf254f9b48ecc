# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Says why something did not fit, and what helps, when the exception leaves the program uncaught.

Nothing is printed while an exception can still be caught, and the exception itself stays as it is.
"""

import os
import sys
from typing import Any, Optional

from . import command

_told = 0  # number of the last failure that was explained
_started = False


def hint() -> Optional[str]:
    """The verdict and the first cure of this process's newest failure; None if it has none, or the
    last one was told already."""
    global _told
    try:
        findings = command.document("explain", "--pid", str(os.getpid()))
    except (OSError, RuntimeError, ValueError):
        return None
    number = int(findings["failure"]["number"])
    if number <= _told:
        return None
    _told = number
    lines = [f"ttmem: {findings['headline']}"]
    for cure in findings["cures"][:1]:
        lines.append(f"  {cure['text']}")
        if cure["given"]:
            lines.append(f"  if {cure['given']}")
        if cure["call"]:
            lines.append(f"  {cure['call']}")
    lines.append(f"  ttmem explain --pid {os.getpid()} {number} shows the rest.")
    return "\n".join(lines)


def start() -> None:
    """From now on, after the traceback of an uncaught exception."""
    global _started
    if _started:
        return
    _started = True
    _chain_excepthook()
    _chain_ipython()


def _print_hint() -> None:
    try:
        text = hint()
        if text:
            print(text, file=sys.stderr)
    except Exception:  # pylint: disable=broad-except
        pass  # advice must never hide the error it is about


def _chain_excepthook() -> None:
    before = sys.excepthook

    def hook(kind: Any, value: Any, trace: Any) -> None:
        before(kind, value, trace)
        _print_hint()

    sys.excepthook = hook


def _chain_ipython() -> None:
    shells = sys.modules.get("IPython")
    shell = shells.get_ipython() if shells else None
    if shell is None:
        return
    before = shell.showtraceback

    def show(*arguments: Any, **settings: Any) -> None:
        before(*arguments, **settings)
        _print_hint()

    shell.showtraceback = show
