# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Commands that go through the time of a recording: `top`, `explain`, `leaks`."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import time

import pytest

from support import command
from support.built import TTMEM
from support.stage import staged
from support.waiting import eventually

MIB = 1 << 20
BANKS = 12


@contextlib.contextmanager
def recorded(file):
    process = subprocess.Popen([TTMEM, "record", "--quiet", "-o", file])
    try:
        eventually(lambda: command.run("status", "--from", file).returncode == 0)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


@pytest.fixture
def story(tmp_path):
    """Two buffers, a failure, four buffers (the peak), one is left."""
    file = str(tmp_path / "story.ttm")
    with staged() as play:
        play("open")
        with recorded(file):
            for number in (1, 2):
                play("allocate", id=number, address=MIB * 2 * number, block=MIB)
            time.sleep(0.15)  # a bar of time of some length
            play("fail", message="Out of Memory: Not enough space to allocate 99 B DRAM buffer",
                 requested=99 * BANKS, per_bank=99)
            time.sleep(0.15)
            for number in (3, 4):
                play("allocate", id=number, address=MIB * 2 * number, block=MIB)
            for number in (1, 2, 3):
                play("free", id=number)
            time.sleep(0.15)
    return file


def buffers(file, moment):
    device = command.document("status", "--from", file, "--at", moment)["devices"][0]
    return device["dram"]["taken"] // (MIB * BANKS)


def test_peak_and_failure_are_met_exactly(story):
    assert buffers(story, "peak") == 4
    assert buffers(story, "failure") == 2
    assert buffers(story, "end") == 1
    failed = command.document("status", "--from", story, "--at", "failure")
    assert len(failed["processes"][0]["failures"]) == 1
    # A nanosecond before, neither had happened.
    peak = command.document("status", "--from", story, "--at", "peak")["time_ns"]
    assert buffers(story, str(peak - 1)) == 3
    before = command.document("status", "--from", story, "--at", str(failed["time_ns"] - 1))
    assert before["processes"][0]["failures"] == []


def test_a_time_of_day_may_be_after_midnight(story):
    first = command.document("status", "--from", story, "--summary")["first_ns"]
    midnight = (first // 10**9 + 1) % 86_400  # in a zone where the day ends a moment after the start
    zone = f"HERE+{midnight // 3600}:{midnight // 60 % 60:02}:{midnight % 60:02}"
    done = command.run("status", "--from", story, "--at", "00:00:00", "--json", TZ=zone)
    assert done.returncode == 0, done.stderr
    # Where a recording ends before midnight, that is its end.
    assert first <= json.loads(done.stdout)["time_ns"] <= (first // 10**9 + 1) * 10**9


def test_what_is_sampled_says_when(story):
    summary = command.document("status", "--from", story, "--at", "peak", "--summary")
    assert summary["sampled_ns"] < summary["time_ns"]
    shown = command.text("status", "--from", story, "--at", "peak")
    assert re.search(r"^Recording of \S+, [\d:.]+; launches, rings, peaks and geometry as of .* before",
                     shown)
    assert "Recording" not in command.text("status")


def test_what_was_held_at_a_failure_is_there_after_the_process_has_ended(tmp_path):
    file = str(tmp_path / "ended.ttm")
    with staged() as play:
        play("open")
        with recorded(file):
            play("allocate", id=1, address=MIB, block=MIB)
            play("fail", message="Out of Memory", requested=99 * BANKS, per_bank=99)
            play.process.kill()
            play.process.wait()
    assert not command.document("status", "--from", file)["processes"][0]["alive"]

    def picture(*moment):
        failure, = command.document("dump", "--from", file, *moment, "--failure", "1")["failures"]
        return [held["address"] for held in failure["picture"] or ()]

    assert picture() == picture("--at", "failure") == [MIB]


def test_commands_that_are_named_see_the_same_recording(story, tmp_path):
    spaced = str(tmp_path / "last night's.ttm")
    os.rename(story, spaced)
    for moment in ([], ["--at", "failure"]):
        text = command.text("status", "--from", spaced, *moment)
        named = [shlex.split(line.split(" says ")[0].split(" shows ")[0]) for line in text.splitlines()
                 if line.startswith("    ttmem ")]
        assert [each[1] for each in named] == ["explain", "dump"]
        for _, *arguments in named:
            assert arguments[1:3] == ["--from", spaced] and moment == arguments[3:3 + len(moment)]
            command.text(*arguments)


def test_explain_tells_of_the_failure_of_a_recording(story):
    found = command.document("explain", "--from", story)
    assert found["document"] == "explain"
    assert found["failure"]["number"] == 1
    assert command.text("explain", "--from", story, "--at", "failure")
    done = command.run("explain", "--from", story, "--at", "start")
    assert done.returncode == 1
    assert "no process had kept a failure" in done.stderr


def test_leaks_goes_through_a_recording(tmp_path):
    """Thirty steps of four buffers, of which one stays."""
    file = str(tmp_path / "steps.ttm")
    with staged() as play:
        play("open")
        with recorded(file):
            for number in range(120):
                block = 1024 * (1 + number % 4)
                play("allocate", id=number, address=MIB * 2 + 4096 * number, block=block,
                     requested=block * BANKS)
                if number % 4 != 3:
                    play("free", id=number)
                else:
                    time.sleep(0.01)
    found = json.loads(command.text("leaks", "--from", file, "--json"))
    assert found["document"] == "leaks"
    assert found["steps"] > 10 and found["steps_from"] == "sequence"
    suspect, = found["suspects"]
    assert suspect["block"] == 4096
    assert command.run("leaks", "--from", file, "--mark").returncode == 2
    some = json.loads(command.text("leaks", "--from", file, "--json", "--steps", "1"))
    assert 1 <= some["steps"] < found["steps"]


# ---- the live screen ---------------------------------------------------------------------------


def dram_of(screen):
    """The exact figure in the first row of a process; None while it is drawn."""
    found = re.search(r" stage .*?([\d,]{7,})", screen)
    return int(found.group(1).replace(",", "")) if found else None


def test_top_goes_through_time(story, new_terminal):
    screen = new_terminal(f"{TTMEM} top --from {story} --at start", columns=140, rows=30)
    screen.shows("  recording\n")
    screen.press("b", "g")
    screen.shows("0.000 of")
    screen.shows("!")  # where something failed
    screen.press("]")  # the failure comes first
    eventually(lambda: dram_of(screen.screen()) == 2 * MIB * BANKS)
    screen.press("]")  # then the peaks
    eventually(lambda: dram_of(screen.screen()) == 4 * MIB * BANKS)
    screen.press("[")
    eventually(lambda: dram_of(screen.screen()) == 2 * MIB * BANKS)
    screen.press("G")
    eventually(lambda: dram_of(screen.screen()) == MIB * BANKS)
    before = screen.screen()
    screen.press("Left")
    eventually(lambda: screen.screen() != before)
    screen.press("g", "-", "-", "-", "Space")
    screen.shows("playing")
    screen.press("+", "+", "+")
    eventually(lambda: dram_of(screen.screen()) == MIB * BANKS and "playing" not in screen.screen())
    screen.press("+")
    screen.shows("x2")
    screen.press("5")
    screen.shows("buffer_allocated")
    screen.press("q")
    screen.shows("code 0")


def test_top_once_shows_the_moment_and_the_curve(story):
    shown = command.text("top", "--once", "--size", "120x30", "--from", story, "--at", "start")
    bar = shown.rstrip("\n").split("\n")[-2]
    assert re.match(r" at [\d:.]+  [\d.]+ of [\d.]+ s  x1 ", bar)
    assert "▄" in bar and "▲" in bar and "!" in bar
    assert json.loads(command.text("top", "--json", "--from", story, "--at", "failure"))[
        "processes"][0]["failures"]


def test_top_of_what_is_no_recording(tmp_path):
    file = tmp_path / "notes"
    file.write_text("nothing")
    done = command.run("top", "--from", str(file))
    assert done.returncode == 1
    assert "no recording" in done.stderr


def test_a_time_of_day_needs_no_seconds(story):
    minute = time.strftime("%H:%M", time.localtime(command.document("status", "--from", story)["time_ns"] / 1e9 + 60))
    for moment in (minute, "25:00", "12:60", "-1:30", "14:"):
        done = command.run("status", "--from", story, "--at", moment)
        assert done.returncode == 1
        assert ("is not within" in done.stderr) == (moment == minute), moment


def test_a_process_that_was_not_recorded_is_said(story):
    done = command.run("leaks", "--from", story, "--pid", "1")
    assert (done.returncode, done.stdout) == (1, "") and "1 is not tracked" in done.stderr


def test_events_up_to_a_moment(story):
    def told(*moment):
        lines = command.text("events", "--json", "--from", story, *moment).splitlines()
        return [json.loads(line)["event"] for line in lines]

    everything = told()
    assert told("--at", "failure") == everything[:everything.index("failed") + 1]
    assert told("--at", "end") == everything
    assert command.run("events", "--from", story, "--at", "+100").returncode == 1
