# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Where the output goes: pipes that close, full disks, terminals, and help that helps."""

import os
import pty
import subprocess
import unittest

from harness import command

COMMANDS = ("status", "dump", "events", "gc", "demo")


def on_a_terminal(*arguments, **changes):
    """What the command prints when its standard output is a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([command.TTMEM, *arguments], stdout=theirs,
                               env={**environment, "TERM": "xterm-256color", **changes})
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65536):
            printed += chunk
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait(command.DEADLINE_SECONDS) == 0
    return printed.decode()


class Outputs(command.TestCase):
    def test_a_reader_that_leaves_is_no_error(self):
        with command.workload("--devices", "2"):
            for arguments in (["dump"], ["dump", "--json"], ["status", "--cores"], ["events"]):
                reader, writer = os.pipe()
                os.close(reader)
                done = subprocess.run([command.TTMEM, *arguments], stdout=writer, text=True,
                                      stderr=subprocess.PIPE, check=False)
                os.close(writer)
                self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)

    def test_a_full_disk_is_one(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([command.TTMEM, "status"], stdout=full, text=True,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write the output", done.stderr)

    def test_colours_only_on_a_terminal_that_wants_them(self):
        with command.workload():
            self.assertIn("\x1b[0;1m", on_a_terminal("status"))
            self.assertNotIn("\x1b", on_a_terminal("status", NO_COLOR="1"))
            self.assertNotIn("\x1b", on_a_terminal("status", TERM="dumb"))
            self.assertNotIn("\x1b", command.text("status"))

    def test_help_of_every_command_has_examples(self):
        overview = command.text("--help")
        for name in COMMANDS:
            self.assertIn(f"  {name} ", overview)
            text = command.text(name, "--help")
            self.assertIn("Examples:\n", text)
            self.assertIn(f"  ttmem {name}", text)

    def test_a_segment_that_cannot_be_read_is_said_and_the_others_are_shown(self):
        with command.workload():
            path = os.path.join(os.environ["TTMEM_DIR"], "ttmem-1-1-0123456789abcdef")
            with open(path, "wb") as file:
                file.write(b"garbage" * 4096)
            os.utime(path, (0, 0))  # old enough not to be one that is just being made
            done = command.run("status")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Device 0", done.stdout)
            self.assertIn("not read: ", done.stdout)
            self.assertEqual(len(command.document("status")["unreadable"]), 1)


if __name__ == "__main__":
    unittest.main()
