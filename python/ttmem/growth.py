# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Follows this process while something runs, and says what grew from step to step: `ttmem leaks` beside it."""

import json
import os
import signal
import subprocess
from typing import Any, Dict, List

from . import command
from .text import format_bytes

_ENDLESS = 10**9
_PATIENCE_SECONDS = 60


class Following:
    """Follows from now on."""

    def __init__(self) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        self._process = subprocess.Popen(
            [command.find(), "leaks", "--json", "--steps", str(_ENDLESS), "--pid", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            encoding="utf-8",
        )

    def end(self) -> List[str]:
        """What grew, a line each; that too few steps were seen is said as well."""
        self._process.send_signal(signal.SIGINT)
        try:
            output, _ = self._process.communicate(timeout=_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
        # Ended before it could follow: nothing was seen.
        return problems(json.loads(output)) if output else problems({"processes": []})


def problems(report: Dict[str, Any]) -> List[str]:
    """The document `leaks` as lines."""
    if not any(process["known"] for process in report["processes"]):
        steps = sum(process["steps"] for process in report["processes"])
        return [
            f"ttmem: whether it grows is not known: {steps} steps were seen; call ttmem.step() at the "
            "beginning of at least ten steps, which take 20 ms each or more"
        ]
    lines = []
    for each in report["suspects"]:
        made = " ".join(filter(None, (each["operation"], each["line"]))) or "an unknown line"
        lines.append(
            f"ttmem: grows by {format_bytes(int(each['taken_per_step']))} per step in {each['space']} of "
            f"device {each['device']}: {made}, {each['count']} alive"
        )
    for each in report["falling_l1"]:
        lines.append(
            f"ttmem: the lowest L1 address of device {each['device']} falls by "
            f"{each['bytes_per_step']:.0f} B per step, from {each['first']} to {each['last']}"
        )
    return lines
