# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem record`, and what the other commands make of its files."""

import json
import os
import signal
import stat
import subprocess

from support import command
from support.built import TTMEM
from support.waiting import eventually


def recorder(*arguments):
    return subprocess.Popen([TTMEM, "record", "--quiet", *arguments], stderr=subprocess.PIPE,
                            text=True)


def without_moment(document):
    """A snapshot but for the moment it was taken at."""
    document = json.loads(document)
    del document["time_ns"]
    document.pop("sampled_ns", None)  # only of a recording
    for process in document["processes"]:
        for name in ("started_ns", "ended_ns"):
            del process[name]
        for failure in process["failures"]:
            del failure["time_ns"]
    return document


def without_host(document):
    """Sensors and processes of others are not recorded."""
    for device in document["devices"]:
        device.pop("host", None)
    for process in document["processes"]:
        process.pop("host_pid", None)
    return document


def test_a_recording_shows_what_was_there(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload() as demo:
        done = command.run("record", "-o", file, "--duration", "0.3")
        assert done.returncode == 0, done.stderr
        assert "0 B" not in done.stderr
        live = command.text("status", "--json")
        holdings = command.document("dump")["holdings"]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    replayed = command.text("status", "--json", "--from", file)
    assert without_host(without_moment(replayed)) == without_host(without_moment(live))
    past = command.document("dump", "--from", file)["holdings"]
    same = [{key: value for key, value in each.items() if not key.endswith("_ns")}
            for each in past]
    assert same == [{key: value for key, value in each.items() if not key.endswith("_ns")}
                    for each in holdings]
    assert str(demo.pids[0]) in command.text("status", "--from", file, "--at", "start")


def test_events_of_a_program_come_from_its_start(tmp_path):
    file = str(tmp_path / "run.ttm")
    done = command.run("record", "-o", file, "--", TTMEM, "demo", "--hold", "0.2")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in
              command.text("events", "--json", "--from", file).splitlines()]
    assert events, "no events"
    times = [event["time_ns"] for event in events]
    assert times == sorted(times)
    process = json.loads(command.text("status", "--json", "--from", file))["processes"][0]
    assert process["alive"] is False
    numbers = [event["number"] for event in events if event.get("number")]
    assert numbers == sorted(numbers)


def test_a_killed_recorder_leaves_what_it_wrote(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        process = recorder("-o", file)
        eventually(lambda: os.path.exists(file) and os.path.getsize(file) > 2000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        live = command.document("status")
    past = command.document("status", "--from", file)
    assert [each["pid"] for each in past["processes"]] == [
        each["pid"] for each in live["processes"]]
    assert past["devices"][0]["dram"]["taken"] == live["devices"][0]["dram"]["taken"]


def test_a_terminated_recorder_ends_well(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        process = recorder("-o", file)
        eventually(lambda: os.path.exists(file) and os.path.getsize(file) > 2000)
        process.terminate()
        assert process.wait() == 0
    with open(file, "rb") as recording:
        assert b"TTMEMEND" in recording.read()[-32:]


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path):
    file = tmp_path / "mine"
    file.write_text("precious")
    done = command.run("record", "-o", str(file), "--duration", "0.01")
    assert done.returncode == 3
    assert "--force" in done.stderr
    assert file.read_text() == "precious"
    done = command.run("status", "--from", str(file))
    assert done.returncode == 1
    assert "no recording" in done.stderr


def test_a_moment_outside_of_the_recording_is_refused(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload():
        command.text("record", "-o", file, "--duration", "0.2")
    for when, words in (("+3600", "recorded from"), ("yesterday", "--at must be"),
                        ("failure", "nothing failed")):
        done = command.run("status", "--from", file, "--at", when)
        assert done.returncode == 1, when
        assert words in done.stderr, when
