# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Where the output goes: pipes that close, full disks, terminals, and help that helps."""

import os
import pty
import subprocess

from support import command
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS

COMMANDS = ("status", "dump", "events", "gc", "demo")


def on_a_terminal(*arguments, **changes):
    """What the command prints when its standard output is a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([TTMEM, *arguments], stdout=theirs,
                               env={**environment, "TERM": "xterm-256color", **changes})
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65536):
            printed += chunk
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait(DEADLINE_SECONDS) == 0
    return printed.decode()


def test_a_reader_that_leaves_is_no_error():
    with command.workload("--devices", "2"):
        for arguments in (["dump"], ["dump", "--json"], ["status", "--cores"], ["events"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([TTMEM, *arguments], stdout=writer, text=True,
                                  stderr=subprocess.PIPE, check=False)
            os.close(writer)
            assert (done.returncode, done.stderr) == (0, ""), arguments


def test_a_full_disk_is_one():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [TTMEM, "status"], stdout=full, text=True, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 3
    assert "cannot write the output" in done.stderr


def test_colours_only_on_a_terminal_that_wants_them():
    with command.workload():
        assert "\x1b[0;1m" in on_a_terminal("status")
        assert "\x1b" not in on_a_terminal("status", NO_COLOR="1")
        assert "\x1b" not in on_a_terminal("status", TERM="dumb")
        assert "\x1b" not in command.text("status")


def test_help_of_every_command_has_examples():
    overview = command.text("--help")
    for name in COMMANDS:
        assert f"  {name} " in overview
        text = command.text(name, "--help")
        assert "Examples:\n" in text
        assert f"  ttmem {name}" in text


def test_a_segment_that_cannot_be_read_is_said_and_the_others_are_shown():
    with command.workload():
        path = os.path.join(os.environ["TTMEM_DIR"], "ttmem-1-1-0123456789abcdef")
        with open(path, "wb") as file:
            file.write(b"garbage" * 4096)
        os.utime(path, (0, 0))  # old enough not to be one that is just being made
        done = command.run("status")
        assert done.returncode == 0
        assert "Device 0" in done.stdout
        assert "not read: " in done.stdout
        assert len(command.document("status")["unreadable"]) == 1


def words_to(stderr, *arguments):
    """The exit code with standard error that cannot be written."""
    return subprocess.run([TTMEM, *arguments], stdout=subprocess.DEVNULL, stderr=stderr,
                          timeout=DEADLINE_SECONDS, check=False).returncode


def test_words_that_cannot_be_written_change_nothing(tmp_path):
    failing = ["python3", "-c", "raise SystemExit(7)"]
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "w", encoding="utf-8") as full:
        for number, stderr in enumerate((full, writer)):
            assert words_to(stderr, "status", "--no-such-option") == 2
            assert words_to(stderr, "no-such-command") == 2
            assert words_to(stderr, "explain") == 1
            assert words_to(stderr, "export", "--to", "csv", "-o", "-") == 0
            assert words_to(stderr, "run", "--explain", *failing) == 7
            assert words_to(stderr, "record", "-o", str(tmp_path / f"{number}.ttm"), "--", *failing) == 7
    os.close(writer)
