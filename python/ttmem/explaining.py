# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Says why something did not fit, and what helps: when it is asked, or when the exception leaves the
program uncaught.

Nothing is printed while an exception can still be caught, and the exception itself stays as it is.
"""

import os
import sys
import threading
from typing import Any, Dict, List, Optional, Set

from . import command, refusals

_told: Set[int] = set()  # numbers of the failures that were explained
_started = False


def explain(number: Optional[int] = None, pid: Optional[int] = None) -> Dict[str, Any]:
    """Why something did not fit, who is in the way and what helps: the document of `ttmem explain
    --json`; docs/json.md has every field.

    Of the newest failure of any process, or of the one with this number, or of this process id.
    RuntimeError if there is none.
    """
    words = ["explain"]
    if number is not None:
        words.append(str(number))
    if pid is not None:
        words += ["--pid", str(pid)]
    return command.document(*words)


def hint(error: Optional[BaseException]) -> Optional[str]:
    """The verdict and the first cure of the failure of this process that `error` tells; None if it
    tells none, or one that was told already."""
    refusals.record(error)
    try:
        findings = _findings_of(error)
    except (OSError, RuntimeError, ValueError):
        return None
    if findings is None:
        return None
    number = int(findings["failure"]["number"])
    _told.add(number)
    lines = [f"ttmem: {findings['headline']}"]
    for cure in findings["cures"][:1]:
        lines.append(f"  {cure['text']}")
        if cure["given"]:
            lines.append(f"  if {cure['given']}")
        if cure["call"]:
            lines.append(f"  {cure['call']}")
    lines.append(f"  ttmem explain --pid {os.getpid()} {number} shows the rest.")
    return "\n".join(lines)


def _findings_of(error: Optional[BaseException]) -> Optional[Dict[str, Any]]:
    """A failure that was caught, and an error that has nothing to do with it, are not one story: the
    runtime's message must stand in the exception, or in one that it came of."""
    texts = [str(each) for each in refusals.chain(error)]
    if not any(texts):
        return None
    findings = explain(pid=os.getpid())
    newest = int(findings["failure"]["number"])
    while not _is_told_by(findings, texts):
        number = int(findings["failure"]["number"]) - 1
        if number <= max(0, newest - _KEPT):
            return None
        findings = explain(number, pid=os.getpid())
    return findings


_KEPT = 4  # of the last failures a process keeps so many


def _is_told_by(findings: Dict[str, Any], texts: List[str]) -> bool:
    failure = findings["failure"]
    if int(failure["number"]) in _told:
        return False
    return any(failure["message"] and failure["message"] in text for text in texts)


def start() -> None:
    """From now on, after the traceback of an uncaught exception."""
    global _started
    if _started:
        return
    _started = True
    _chain_excepthook()
    _chain_threads()
    _chain_ipython()


def _print_hint(error: Optional[BaseException]) -> None:
    try:
        text = hint(error)
        if text:
            print(text, file=sys.stderr)
    except Exception:  # pylint: disable=broad-except
        pass  # advice must never hide the error it is about


def _chain_excepthook() -> None:
    before = sys.excepthook

    def hook(kind: Any, value: Any, trace: Any) -> None:
        before(kind, value, trace)
        _print_hint(value)

    sys.excepthook = hook


def _chain_threads() -> None:
    before = threading.excepthook

    def hook(told: Any) -> None:
        error = told.exc_value
        before(told)
        _print_hint(error)

    threading.excepthook = hook


def _chain_ipython() -> None:
    shells = sys.modules.get("IPython")
    shell = shells.get_ipython() if shells else None
    if shell is None:
        return
    before = shell.showtraceback

    def show(exc_tuple: Any = None, *arguments: Any, **settings: Any) -> None:
        error = (exc_tuple or sys.exc_info())[1]
        before(exc_tuple, *arguments, **settings)
        _print_hint(error)

    shell.showtraceback = show
