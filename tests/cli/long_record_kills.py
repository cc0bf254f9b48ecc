# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Recorders and writers that are killed at any moment, 200 times: whatever was written is true."""

import os
import random
import signal
import subprocess
import time

from support import command
from support.built import TTMEM
from support.waiting import eventually

KILLS = 100
MARGIN_NS = 5_000_000  # before the last look of a recorder, which takes a while


def recorder(file):
    process = subprocess.Popen([TTMEM, "record", "--quiet", "-o", file])
    eventually(lambda: command.run("status", "--from", file).returncode == 0)
    return process


def held(file, moment):
    """What events carry, of all living processes."""
    document = command.document("dump", "--from", file, "--at", str(moment), "--kind", "buffer")
    return sorted((each["pid"], each["id"], each["address"], each["taken"])
                  for each in document["holdings"])


def test_killed_recorders_leave_what_a_whole_one_has(tmp_path):
    chance = random.Random(1)
    with command.workload("--scenario", "busy"):
        whole_file = str(tmp_path / "whole.ttm")
        whole = recorder(whole_file)
        moments = []
        for number in range(KILLS):
            file = str(tmp_path / f"killed-{number}.ttm")
            process = recorder(file)
            time.sleep(chance.uniform(0.02, 0.3))
            process.kill()
            process.wait()
            summary = command.document("status", "--from", file, "--summary")
            moments.append((file, max(summary["first_ns"], summary["last_ns"] - MARGIN_NS)))
        whole.send_signal(signal.SIGINT)
        assert whole.wait() == 0
    for file, moment in moments:
        assert held(file, moment) == held(whole_file, moment), file


def test_killed_writers_are_recorded_to_their_last_event(tmp_path):
    chance = random.Random(2)
    for number in range(KILLS):
        file = str(tmp_path / f"writer-{number}.ttm")
        with command.workload("--scenario", "busy") as demo:
            process = recorder(file)
            time.sleep(chance.uniform(0.02, 0.2))
            os.kill(demo.pids[0], signal.SIGKILL)
            eventually(lambda: command.process_of(demo.pids[0])["alive"] is False)
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0
            live = command.document("dump", "--kind", "buffer", "--pid", str(demo.pids[0]))
        past = command.document("dump", "--from", file, "--kind", "buffer")
        assert [each["id"] for each in past["holdings"]] == [
            each["id"] for each in live["holdings"]], file
        ended = command.document("status", "--from", file)["processes"][0]
        assert ended["alive"] is False
        command.text("gc", "--all")
