# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem top` in a real terminal: what it shows, what keys do, and how it leaves."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from harness import command, terminal


class Top(command.TestCase):
    def start(self, *options, **settings):
        line = " ".join([command.TTMEM, "top", "--interval", "0.2", *options])
        screen = terminal.Terminal(line, **settings)
        self.addCleanup(screen.end)
        return screen

    def child(self, parent, name):
        """The process of that name that the parent started."""
        children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(parent)], text=True,
                                  capture_output=True, check=True).stdout.split("\n")
        return next(int(line.split()[0]) for line in children if name in line)

    def pid(self, screen):
        """Of the running `ttmem top`: the child of the terminal's shell."""
        return self.child(screen.asks("pane_pid"), "ttmem")

    def assert_given_back(self, screen):
        self.assertEqual(screen.asks("cursor_flag"), "1")
        self.assertEqual(screen.asks("alternate_on"), "0")
        self.assertEqual(screen.asks("mouse_any_flag"), "0")

    def assert_left(self, screen, code):
        screen.shows(f"code {code}")
        screen.shows("restored")
        self.assert_given_back(screen)

    # ---- what it shows ---------------------------------------------------------------------------

    def test_overview_names_devices_and_processes_and_adds_up(self):
        with command.workload("--scenario", "seeds", "--devices", "2", "--processes", "2") as demo:
            screen = self.start(columns=140, rows=40)
            screen.shows("Processes 2")
            for pid in demo.pids:
                screen.shows(f" {pid} ")
            screen.press("b")
            screen.shows("52,445,184")
            shown = screen.screen()
            rows = [re.findall(r"[\d,]{6,}", line) for line in shown.split("\n")]
            sums = next(re.findall(r"[\d,]+", line.split("shown")[1])
                        for line in shown.split("\n") if "shown" in line)
            dram = [int(row[0].replace(",", "")) for line, row in zip(shown.split("\n"), rows)
                    if any(f" {pid} " in line for pid in demo.pids)]
            self.assertEqual(len(dram), 2)
            self.assertEqual(sum(dram), int(sums[0].replace(",", "")))
            devices = command.document("status")["devices"]
            self.assertEqual(sum(dram), sum(device["dram"]["taken"] for device in devices))

    def test_every_view_on_a_busy_host(self):
        with command.workload("--scenario", "busy", "--devices", "2", "--processes", "2") as demo:
            screen = self.start(columns=120, rows=40)
            screen.shows("Processes 2")
            screen.press("2")
            screen.shows("Core 0,0  worker")
            screen.press("Right", "Down")
            screen.shows("Core 1,1  worker")
            screen.press("c")
            screen.shows("headroom left, %")
            screen.press("3")
            screen.shows("L1 A CORE")
            screen.press("4")
            screen.shows(f"Process {demo.pids[0]}")
            screen.shows("Holdings")
            screen.press("5")
            screen.shows("buffer_allocated")
            screen.press("/")
            screen.type("program_loaded")
            screen.press("Enter")
            command.eventually(lambda: "buffer_freed" not in screen.screen(), "filtered events")
            os.kill(demo.pids[1], signal.SIGKILL)
            screen.press("6")
            screen.shows("died")
            screen.press("?")
            screen.shows("red name")
            screen.press("q")
            self.assert_left(screen, 0)

    def test_nothing_tracked_says_how_to_begin(self):
        screen = self.start()
        screen.shows("ttmem run python model.py")

    def test_devices_that_nobody_tracks_and_who_has_them_open(self):
        with tempfile.TemporaryDirectory() as root:
            device = os.path.join(root, "sys/class/tenstorrent/tenstorrent!0")
            for name, text in {"tt_asic_id": "00000000000000A1", "tt_card_type": "n300"}.items():
                self.write(os.path.join(device, name), text)
            self.write(os.path.join(root, "sys/devices/pci0000:00/0000:60:00.0/device"), "0x401e")
            os.symlink("../../../devices/pci0000:00/0000:60:00.0", os.path.join(device, "device"))
            self.write(os.path.join(root, "proc/driver/tenstorrent/0/pids"), "41")
            self.write(os.path.join(root, "proc/41/stat"), "41 (train) S" + " 0" * 18 + " 100 0 0")
            screen = self.start(TTMEM_HOST_ROOT=root)
            self.assertIn("n300", screen.shows(" train "))
            self.write(os.path.join(root, "proc/driver/tenstorrent/0/pids"), "")
            screen.shows("nobody has it open")

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def test_follows_the_size_at_any_moment(self):
        with command.workload("--scenario", "busy", "--devices", "4"):
            screen = self.start(columns=100, rows=30)
            screen.shows("Processes 1")
            for columns, rows in [(60, 16), (200, 50), (40, 10), (300, 80), (80, 24)]:
                screen.resize(columns, rows)
                if columns < 60:
                    screen.shows("needs 60x16")
                    continue
                frame = re.compile("^╭─ Devices.*─╮$")
                command.eventually(
                    lambda: any(frame.match(line) and len(line) == columns
                                for line in screen.lines()), f"frame of {columns} columns")

    def test_mouse_and_sort_menu(self):
        with command.workload("--scenario", "busy"):
            screen = self.start(columns=100, rows=30)
            screen.shows("Processes 1")
            place = screen.lines()[0].index("Prog") + 2
            screen.type(f"\x1b[<0;{place};1M\x1b[<0;{place};1m")
            screen.shows("L1 A CORE")
            screen.press("s")
            screen.shows("Sort by")
            screen.press("Down", "Down", "Enter")
            screen.shows("DISPATCHES▼")

    def test_pause_stops_the_clock(self):
        with command.workload("--scenario", "busy"):
            screen = self.start()
            screen.shows("Processes 1")
            screen.press("Space")
            screen.shows("paused")
            still = screen.lines()[1:-2]
            command.text("status")
            self.assertEqual(screen.lines()[1:-2], still)
            screen.press("Space")
            command.eventually(lambda: "paused" not in screen.screen(), "going on")

    def test_names_in_wide_characters_keep_the_frame_straight(self):
        script = ("import ctypes,os,time; l=ctypes.CDLL(os.environ['TTMEM_LIB']); "
                  "ctypes.CDLL(None).prctl(15, '推論サーバ'.encode(), 0, 0, 0); "
                  "assert l.ttmem_open()==0; time.sleep(100)")
        if "TTMEM_LIB" not in os.environ:
            self.skipTest("libttmem.so is not built")
        process = subprocess.Popen([sys.executable, "-c", script])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        screen = self.start()
        shown = screen.shows("推論")
        line = next(line for line in shown.split("\n") if "推論" in line)
        self.assertTrue(line.rstrip().endswith("│"), line)

    # ---- colours -----------------------------------------------------------------------------------

    def test_colours_as_the_environment_says(self):
        with command.workload():
            for changes, has, lacks in [
                    ({"COLORTERM": "truecolor"}, "38;2;", "38;5;"),
                    ({"COLORTERM": ""}, "38;5;", "38;2;"),
                    ({"NO_COLOR": "1"}, "█", "38;")]:
                screen = self.start(**changes)
                screen.shows("Processes 1")
                shown = screen.screen("-e")
                self.assertIn(has, shown)
                self.assertNotIn(lacks, shown)
                screen.end()

    # ---- how it leaves -------------------------------------------------------------------------------

    def test_restored_after_q_and_ctrl_c(self):
        for key in ["q", "C-c"]:
            screen = self.start()
            screen.shows("Devices")
            screen.press(key)
            self.assert_left(screen, 0)

    def test_restored_after_signals_and_crashes(self):
        for number, code in [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGSEGV, 139),
                             (signal.SIGABRT, 134)]:
            screen = self.start()
            screen.shows("Devices")
            os.kill(self.pid(screen), number)
            self.assert_left(screen, code)

    def test_goes_on_after_it_was_stopped(self):
        screen = self.start()
        screen.shows("Devices")
        pid = self.pid(screen)
        os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGCONT)
        screen.press("?")
        screen.shows("red name")

    def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back(self):
        screen = terminal.Terminal("bash --norc --noprofile -i")
        self.addCleanup(screen.end)
        screen.type(f"{command.TTMEM} top --interval 0.2\n")
        screen.shows("Nothing is tracked yet")
        shell = self.child(screen.asks("pane_pid"), "bash")
        for stop in [lambda: screen.press("C-z"),
                     lambda: os.kill(self.child(shell, "ttmem"), signal.SIGTSTP)]:
            stop()
            screen.shows("Stopped")
            self.assert_given_back(screen)
            screen.type("clear; fg\n")
            screen.shows("Nothing is tracked yet")
            self.assertEqual(screen.asks("alternate_on"), "1")
            screen.press("?")  # keys are read again
            screen.shows("red name")
            screen.press("?")
            screen.shows("Nothing is tracked yet")
        screen.press("q")
        command.eventually(lambda: screen.asks("alternate_on") == "0", "the shell's screen")
        self.assert_given_back(screen)

    def test_ctrl_z_without_a_shell_to_go_back_to_goes_on(self):
        screen = self.start()
        screen.shows("Nothing is tracked yet")
        screen.press("C-z", "?")
        screen.shows("red name")

    # ---- without a terminal ----------------------------------------------------------------------------

    def test_once_prints_one_picture(self):
        with command.workload() as demo:
            picture = command.text("top", "--once", "--size", "100x30")
            lines = picture.split("\n")
            self.assertEqual(len(lines), 31)
            self.assertIn(str(demo.pids[0]), picture)
            self.assertNotIn("\x1b", picture)
            device = command.text("top", "--once", "--view", "device", "--size", "120x40")
            self.assertIn("Core 0,0  worker", device)

    def test_json_is_that_of_status(self):
        with command.workload() as demo:
            for options in [[], ["--pid", str(demo.pids[0])]]:
                mine = json.loads(command.text("top", "--json", *options))
                theirs = command.document("status", *options)
                self.assertEqual(mine.keys(), theirs.keys())
                self.assertEqual(mine["devices"], theirs["devices"])
                self.assertEqual([one["devices"] for one in mine["processes"]],
                                 [one["devices"] for one in theirs["processes"]])
        done, same = (command.run(name, "--json", "--pid", "1") for name in ["top", "status"])
        self.assertEqual((done.returncode, done.stderr), (same.returncode, same.stderr))
        self.assertEqual(done.returncode, 1)

    def test_a_directory_that_cannot_be_read_is_said(self):
        for options in [[], ["--once"], ["--json"]]:
            done = command.run("top", *options, TTMEM_DIR=command.TTMEM)  # a file
            self.assertEqual(done.returncode, 3, options)
            self.assertIn("cannot look into", done.stderr)

    def test_no_terminal_is_said(self):
        done = command.run("top")
        self.assertEqual(done.returncode, 3)
        self.assertIn("needs a terminal", done.stderr)


if __name__ == "__main__":
    if terminal.missing():
        print(terminal.missing())
        sys.exit(77)
    unittest.main()
