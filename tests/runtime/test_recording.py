# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Real ttnn on a mock chip, recorded: at every checkpoint the recording shows what was shown live, and
what ttnn itself said."""

import json
import os
import signal
import subprocess

import oracle
from support import command
from support.built import TTMEM
from support.waiting import eventually

MOST_APART_NS = 100_000  # the same event, by the clock of the recording and by that of now


def replayed(document):
    """Without what is not recorded: sensors."""
    for device in document.get("devices", []):
        device.pop("host", None)
    for process in document.get("processes", []):
        process.pop("host_pid", None)
        for name in ("started_ns", "ended_ns"):
            del process[name]
    return document


def failure_times(document):
    """Takes them out: the times of clocks that were read at two moments differ by nanoseconds."""
    return [failure.pop("time_ns") for process in document["processes"]
            for failure in process["failures"]]


def is_recorded(file):
    """Whether the recording has by now all that there is."""
    done = command.run("status", "--from", file, "--json")
    if done.returncode != 0:
        return False
    past, live = json.loads(done.stdout), command.document("status")
    for document in (past, live):
        failure_times(document)
        del document["time_ns"]
    return replayed(past) == replayed(live)


def without_times(holdings):
    return [{name: value for name, value in each.items() if not name.endswith("_ns")}
            for each in holdings]


def test_every_checkpoint_is_replayed(tmp_path):
    file = str(tmp_path / "ttnn.ttm")
    recorder = subprocess.Popen([TTMEM, "record", "--quiet", "-o", file])
    eventually(lambda: os.path.exists(file))
    python = oracle.setup("python", "10")
    line = [python, os.path.join(oracle.HERE, "ttnn_client.py"), "1", "1"]
    seen = []
    with oracle.running(line, oracle.environment("n150")) as client:
        for point in client.checkpoints():
            eventually(lambda: is_recorded(file), point["checkpoint"])  # what is sampled comes some looks later
            seen.append((point, command.document("status"), command.document("dump")["holdings"]))
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait() == 0
    assert len(seen) > 3
    for point, live, holdings in reversed(seen):
        moment = str(live["time_ns"])
        past = command.document("status", "--from", file, "--at", moment)
        for then, now in zip(failure_times(past), failure_times(live), strict=True):
            assert abs(then - now) < MOST_APART_NS, point["checkpoint"]
        assert replayed(past) == replayed(live), point["checkpoint"]
        dumped = command.document("dump", "--from", file, "--at", moment)["holdings"]
        assert without_times(dumped) == without_times(holdings), point["checkpoint"]
        if not point["open"]:
            continue
        process, = past["processes"]
        device = next(each for each in process["devices"] if each["metal_id"] == point["chips"][0])
        for space in oracle.SPACES:
            said = point[space]
            assert device[space]["taken"] == said["allocated"] * said["banks"], space
