# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Recordings: made around a block of this program, and read at any moment.

Both are done by the `ttmem` command (docs/recording.md): nothing of the recorder runs in this process.
"""

import contextlib
import os
import signal
import subprocess
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import command

Moment = Union[str, int]  # "start", "end", "peak", "failure", "+12.5", or nanoseconds since 1970

_FILE_BLOCK_BYTES = 700  # what tells of the file alone is shorter, with a process in it it is longer
_LONGEST_FIRST_LOOK_SECONDS = 0.5


class Recording:
    """A file of `ttmem record`. Dictionaries are those of docs/json.md."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"ttmem.open({self.path!r})"

    def summary(self) -> Dict[str, Any]:
        """When it begins and ends, what is missing, and where something happened (`marks`)."""
        return command.document("status", "--from", self.path, "--summary")

    def snapshot(self, at: Moment = "end") -> Dict[str, Any]:
        """What every process held on every device at that moment."""
        return command.document("status", "--from", self.path, "--at", str(at))

    def holdings(self, at: Moment = "end") -> Iterator[Dict[str, Any]]:
        """Every buffer, program, kernel, range and trace that was alive at that moment."""
        yield from command.document("dump", "--from", self.path, "--at", str(at))["holdings"]

    def events(self) -> Iterator[Dict[str, Any]]:
        """What happened, in order, as it is read: a recording may be larger than memory."""
        yield from command.stream("events", "--from", self.path)

    def series(self, space: str = "dram") -> Iterator[Tuple[int, int]]:
        """(nanoseconds since 1970, the most bytes that were held until the next), on all devices."""
        summary = self.summary()
        curve = summary["curve"]
        for number, most in enumerate(curve["most"][space]):
            yield summary["first_ns"] + number * curve["step_ns"], most

    def frame(self, what: str = "events", at: Moment = "end") -> Any:
        """A pandas DataFrame of "events", of "holdings" at a moment, or of "series" of all spaces.

        Times become an index of timestamps. Needs pandas.
        """
        import pandas  # not a requirement of this package

        if what == "series":
            curve = self.summary()["curve"]["most"]
            times = [moment for moment, _ in self.series(next(iter(curve)))]
            return pandas.DataFrame(curve, index=pandas.to_datetime(times, unit="ns", utc=True))
        if what == "holdings":
            return pandas.DataFrame(list(self.holdings(at)))
        if what != "events":
            raise ValueError('a frame is of "events", "holdings" or "series"')
        table = pandas.DataFrame(list(self.events()))
        if "time_ns" in table:
            table.index = pandas.to_datetime(table["time_ns"], unit="ns", utc=True)
            table.index.name = "time"
        return table


def open_recording(path: Union[str, "os.PathLike[str]"]) -> Recording:
    """A recording to read; a file that is none is an error at once."""
    recording = Recording(path)
    recording.snapshot("start")
    return recording


@contextlib.contextmanager
def record(
    path: Union[str, "os.PathLike[str]"],
    *,
    everybody: bool = False,
    launches: bool = False,
    max_size: Optional[int] = None,
    redact: bool = False,
    force: bool = False,
) -> Iterator[Recording]:
    """Records this process (or `everybody`) while the block runs; gives what `ttmem.open` gives.

        with ttmem.record("step.ttm") as recording:
            model(batch)
        print(recording.snapshot("peak")["devices"][0]["dram"]["taken"])
    """
    words = ["record", "--quiet", "-o", os.fspath(path)]
    words += [] if everybody else ["--pid", str(os.getpid())]
    words += ["--launches"] if launches else []
    words += ["--max-size", str(max_size)] if max_size else []
    words += ["--redact"] if redact else []
    words += ["--force"] if force else []
    before = _state(path)
    recorder = command.start(words)
    _await_start(recorder, path, before)
    if recorder.poll() is not None:
        _finish(recorder, words)
    try:
        yield Recording(path)
    except BaseException:
        _stop(recorder)  # what the block raised is the news
        raise
    _finish(recorder, words)


def _state(path: Union[str, "os.PathLike[str]"]) -> Tuple[int, int, int]:
    """Of the file: another one after each write to it. Zeros: there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_size


def _await_start(
    recorder: "subprocess.Popen[str]",
    path: Union[str, "os.PathLike[str]"],
    before: Tuple[int, int, int],
) -> None:
    """Until the file is there, and this process in it, if somebody tracks it."""
    until = None
    while recorder.poll() is None:
        now = _state(path)
        if now != before and now[2] > 0:
            until = until or time.monotonic() + _LONGEST_FIRST_LOOK_SECONDS
            if now[2] > _FILE_BLOCK_BYTES or time.monotonic() > until:
                return
        time.sleep(0.002)


def _stop(recorder: "subprocess.Popen[str]") -> str:
    """What it says at its end."""
    if recorder.poll() is None:
        recorder.send_signal(signal.SIGINT)
    return recorder.communicate()[1].strip()


def _finish(recorder: "subprocess.Popen[str]", words: List[str]) -> None:
    errors = _stop(recorder)
    if recorder.returncode == 0:
        return
    if f"process {os.getpid()} is not tracked" in errors:
        raise RuntimeError(
            "ttmem.record: this process is not tracked, so there is nothing to record: "
            "call ttmem.track() before, or start the program with `ttmem run`"
        )
    raise RuntimeError(f"ttmem {' '.join(words)}: {errors}")
