# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem top` in a real terminal: what it shows, what keys do, and how it leaves."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from support import command
from support.built import LIBRARY, TTMEM
from support.waiting import eventually


@pytest.fixture
def start(new_terminal):
    """Starts `ttmem top` in a terminal."""
    return lambda **settings: new_terminal(f"{TTMEM} top --interval 0.2", **settings)


def child(parent, name):
    """The process of that name that the parent started."""
    listing = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(parent)], text=True,
                             capture_output=True, check=True).stdout
    return next(int(line.split()[0]) for line in listing.splitlines() if name in line)


def pid_of_top(screen):
    """Of the running `ttmem top`: the child of the terminal's shell."""
    return child(screen.asks("pane_pid"), "ttmem")


def assert_given_back(screen):
    assert screen.asks("cursor_flag") == "1"
    assert screen.asks("alternate_on") == "0"
    assert screen.asks("mouse_any_flag") == "0"


def assert_left(screen, code):
    screen.shows(f"code {code}")
    screen.shows("restored")
    assert_given_back(screen)


# ---- what it shows ---------------------------------------------------------------------------


def test_overview_names_devices_and_processes_and_adds_up(start):
    with command.workload("--scenario", "seeds", "--devices", "2", "--processes", "2") as demo:
        screen = start(columns=140, rows=40)
        screen.shows("Processes 2")
        for pid in demo.pids:
            screen.shows(f" {pid} ")
        screen.press("b")

        def rows_of(shown):
            """What stands in DRAM in the row of each process."""
            found = [re.findall(r"[\d,]{6,}", line) for line in shown.split("\n")
                     if any(f" {pid} " in line for pid in demo.pids)]
            return [int(row[0].replace(",", "")) for row in found if row]
        shown = eventually(lambda: "52,445,184" in (now := screen.screen()) and len(rows_of(now)) == 2 and now)
        sums = next(
            re.findall(r"[\d,]+", line.split("shown")[1])
            for line in shown.split("\n")
            if "shown" in line
        )
        dram = rows_of(shown)
        assert sum(dram) == int(sums[0].replace(",", ""))
        devices = command.document("status")["devices"]
        assert sum(dram) == sum(device["dram"]["taken"] for device in devices)


def test_every_view_on_a_busy_host(start):
    with command.workload("--scenario", "busy", "--devices", "2", "--processes", "2") as demo:
        screen = start(columns=120, rows=40)
        screen.shows("Processes 2")
        screen.press("2")
        screen.shows("Core 0,0  worker")
        screen.press("Right", "Down")
        screen.shows("Core 1,1  worker")
        screen.press("c")
        screen.shows("headroom left, %")
        screen.press("3")
        screen.shows("L1/CORE")
        screen.press("4")
        screen.shows(f"Process {demo.pids[0]}")
        screen.shows("Holdings")
        screen.press("5")
        screen.shows("buffer_allocated")
        screen.press("/")
        screen.type("program_loaded")
        screen.press("Enter")
        eventually(lambda: "buffer_freed" not in screen.screen(), "filtered events")
        os.kill(demo.pids[1], signal.SIGKILL)
        screen.press("6")
        screen.shows("died")
        screen.press("?")
        screen.shows("next view, a view")
        screen.press("q")
        assert_left(screen, 0)


def test_nothing_tracked_says_how_to_begin(start):
    screen = start()
    screen.shows("ttmem run python model.py")


def test_devices_that_nobody_tracks_and_who_has_them_open(start):
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    device = "sys/class/tenstorrent/tenstorrent!0"
    write(f"{device}/tt_asic_id", "00000000000000A1")
    write(f"{device}/tt_card_type", "n300")
    write("sys/devices/pci0000:00/0000:60:00.0/device", "0x401e")
    os.symlink("../../../devices/pci0000:00/0000:60:00.0", f"{device}/device")
    write("proc/driver/tenstorrent/0/pids", "41")
    write("proc/41/stat", "41 (train) S" + " 0" * 18 + " 100 0 0")
    screen = start(TTMEM_HOST_ROOT=os.getcwd())
    assert "n300" in screen.shows(" train ")
    write("proc/driver/tenstorrent/0/pids", "")
    screen.shows("nobody has it open")


def test_follows_the_size_at_any_moment(start):
    with command.workload("--scenario", "busy", "--devices", "4"):
        screen = start(columns=100, rows=30)
        screen.shows("Processes 1")
        for columns, rows in [(60, 16), (200, 50), (40, 10), (300, 80), (80, 24)]:
            screen.resize(columns, rows)
            if columns < 60:
                screen.shows("needs 60x16")
                continue
            frame = re.compile("^╭─ Devices.*─╮$")
            eventually(
                lambda: any(frame.match(line) and len(line) == columns for line in screen.lines()),
                f"frame of {columns} columns",
            )


def test_mouse_and_sort_menu(start):
    with command.workload("--scenario", "busy"):
        screen = start(columns=100, rows=30)
        screen.shows("Processes 1")
        place = screen.lines()[0].index("Prog") + 2
        screen.type(f"\x1b[<0;{place};1M\x1b[<0;{place};1m")
        screen.shows("L1/CORE")
        screen.press("s")
        screen.shows("Sort by")
        screen.press("Down", "Down", "Enter")
        screen.shows("DISPATCHES▼")


def test_pause_stops_the_clock(start):
    with command.workload("--scenario", "busy"):
        screen = start()
        screen.shows("Processes 1")
        screen.press("Space")
        screen.shows("paused")
        seen = []

        def is_drawn():
            seen.append(screen.lines()[1:-2])
            return seen[-2:-1] == seen[-1:]
        eventually(is_drawn, "the whole of it")
        for _ in range(3):
            command.text("status")
            assert screen.lines()[1:-2] == seen[-1]
        screen.press("Space")
        eventually(lambda: "paused" not in screen.screen(), "going on")


def test_names_in_wide_characters_keep_the_frame_straight(start):
    script = (
        f"import ctypes,time; l=ctypes.CDLL({LIBRARY!r}); "
        "ctypes.CDLL(None).prctl(15, '推論サーバ'.encode(), 0, 0, 0); "
        "assert l.ttmem_open()==0; time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        shown = start().shows("推論")
    finally:
        process.kill()
        process.wait()
    line = next(line for line in shown.split("\n") if "推論" in line)
    assert line.rstrip().endswith("│"), line


# ---- colours -----------------------------------------------------------------------------------


@pytest.mark.parametrize("changes, has, lacks", [
    ({"COLORTERM": "truecolor"}, "38;2;", "38;5;"),
    ({"COLORTERM": ""}, "38;5;", "38;2;"),
    ({"NO_COLOR": "1"}, "█", "38;")])
def test_colours_as_the_environment_says(start, changes, has, lacks):
    with command.workload():
        screen = start(**changes)
        screen.shows("Processes 1")
        shown = screen.screen("-e")
        assert has in shown
        assert lacks not in shown


# ---- how it leaves -------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_restored_after_q_and_ctrl_c(start, key):
    screen = start()
    screen.shows("Devices")
    screen.press(key)
    assert_left(screen, 0)


@pytest.mark.parametrize("number, code", [
    (signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGSEGV, 139), (signal.SIGABRT, 134)])
def test_restored_after_signals_and_crashes(start, number, code):
    screen = start()
    screen.shows("Devices")
    os.kill(pid_of_top(screen), number)
    assert_left(screen, code)


def test_goes_on_after_it_was_stopped(start):
    screen = start()
    screen.shows("Devices")
    os.kill(pid_of_top(screen), signal.SIGSTOP)
    os.kill(pid_of_top(screen), signal.SIGCONT)
    screen.press("?")
    screen.shows("next view, a view")


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back(new_terminal):
    screen = new_terminal("bash --norc --noprofile -i")
    screen.type(f"{TTMEM} top --interval 0.2\n")
    screen.shows("Nothing is tracked yet")
    shell = child(screen.asks("pane_pid"), "bash")
    for stop in [
        lambda: screen.press("C-z"),
        lambda: os.kill(child(shell, "ttmem"), signal.SIGTSTP),
    ]:
        stop()
        screen.shows("Stopped")
        assert_given_back(screen)
        screen.type("clear; fg\n")
        screen.shows("Nothing is tracked yet")
        assert screen.asks("alternate_on") == "1"
        screen.press("?")  # keys are read again
        screen.shows("next view, a view")
        screen.press("?")
        screen.shows("Nothing is tracked yet")
    screen.press("q")
    eventually(lambda: screen.asks("alternate_on") == "0", "the shell's screen")
    assert_given_back(screen)


def test_ctrl_z_without_a_shell_to_go_back_to_goes_on(start):
    screen = start()
    screen.shows("Nothing is tracked yet")
    screen.press("C-z")

    def is_helped():  # a key that comes while the terminal changes hands is dropped
        screen.press("?")
        patience = time.monotonic() + 2
        while "next view, a view" not in screen.screen():
            if time.monotonic() > patience:
                return False
        return True

    eventually(is_helped, "keys are read again")


# ---- without a terminal ----------------------------------------------------------------------------


def test_once_prints_one_picture():
    with command.workload() as demo:
        picture = command.text("top", "--once", "--size", "100x30")
        lines = picture.split("\n")
        assert len(lines) == 31
        assert str(demo.pids[0]) in picture
        assert "\x1b" not in picture
        device = command.text("top", "--once", "--view", "device", "--size", "120x40")
        assert "Core 0,0  worker" in device


def test_json_is_that_of_status():
    with command.workload() as demo:
        for options in [[], ["--pid", str(demo.pids[0])]]:
            mine = json.loads(command.text("top", "--json", *options))
            theirs = command.document("status", *options)
            assert mine.keys() == theirs.keys()
            assert mine["devices"] == theirs["devices"]
            assert [one["devices"] for one in mine["processes"]] == [
                one["devices"] for one in theirs["processes"]
            ]
    done, same = (command.run(name, "--json", "--pid", "1") for name in ["top", "status"])
    assert (done.returncode, done.stderr) == (same.returncode, same.stderr)
    assert done.returncode == 1


def test_formats_are_those_of_status():
    with command.workload():
        assert command.text("top", "--format", "legacy") == command.text("status", "--format", "legacy")
        assert json.loads(command.text("top", "--format", "json"))["document"] == "snapshot"
    assert command.run("top", "--format", "csv").returncode == 2
    assert command.run("top", "--once", "--json").returncode == 2


def test_a_directory_that_cannot_be_read_is_said():
    for options in [[], ["--once"], ["--json"]]:
        done = command.run("top", *options, TTMEM_DIR=TTMEM)  # a file
        assert done.returncode == 3, options
        assert "cannot look into" in done.stderr


def test_no_terminal_is_said():
    done = command.run("top")
    assert done.returncode == 3
    assert "needs a terminal" in done.stderr
