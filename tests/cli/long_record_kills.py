# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Recorders and writers that are killed at any moment, 200 times: whatever was written is true."""

import json
import os
import random
import signal
import subprocess
import time

from support import command
from support.built import TTMEM
from support.waiting import eventually

KILLS = 100


def recorder(file):
    process = subprocess.Popen([TTMEM, "record", "--quiet", "-o", file])
    eventually(lambda: command.run("status", "--from", file).returncode == 0)
    return process


def buffer_events(file):
    """When each buffer came or went, by the number of the event."""
    events = [json.loads(line) for line in command.text("events", "--json", "--from", file).splitlines()]
    return {event["number"]: event["time_ns"] for event in events if event["event"].startswith("buffer_")}


def held(file, moment):
    """The buffers of all living processes."""
    document = command.document("dump", "--from", file, "--at", str(moment), "--kind", "buffer")
    return sorted((each["pid"], each["id"], each["address"], each["taken"])
                  for each in document["holdings"])


def test_killed_recorders_leave_what_a_whole_one_has(tmp_path):
    """What a file holds at its end, the whole one holds after the same event."""
    chance = random.Random(1)
    with command.workload("--scenario", "busy"):
        whole_file = str(tmp_path / "whole.ttm")
        whole = recorder(whole_file)
        files = [str(tmp_path / f"killed-{number}.ttm") for number in range(KILLS)]
        for file in files:
            process = recorder(file)
            time.sleep(chance.uniform(0.02, 2))  # a block is written every second
            process.kill()
            process.wait()
        whole.send_signal(signal.SIGINT)
        assert whole.wait() == 0
    times = buffer_events(whole_file)
    numbers = sorted(times)
    for file in files:
        last = max(buffer_events(file))
        following = next((number for number in numbers if number > last), None)
        moment = (times[last] + times[following]) // 2 if following else "end"
        assert held(file, "end") == held(whole_file, moment), file


def test_killed_writers_are_recorded_to_their_last_event(tmp_path):
    chance = random.Random(2)
    for number in range(KILLS):
        file = str(tmp_path / f"writer-{number}.ttm")
        with command.workload("--scenario", "busy") as demo:
            process = recorder(file)
            time.sleep(chance.uniform(0.02, 0.2))
            os.kill(demo.pids[0], signal.SIGKILL)
            eventually(lambda: command.process_of(demo.pids[0])["alive"] is False)
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0
            asked = ("dump", "--kind", "buffer", "--pid", str(demo.pids[0]))
            live = command.document(*asked)
        past = command.document(*asked, "--from", file)
        assert live["holdings"], file
        assert [each["id"] for each in past["holdings"]] == [
            each["id"] for each in live["holdings"]], file
        ended = command.document("status", "--from", file)["processes"][0]
        assert ended["alive"] is False
        command.text("gc", "--all")
