# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The pages that walk through a session with real ttnn: what they show is what happens.

A block of Python whose first line is `# NAME.py` becomes that file. The lines of a `console` block that
start with `$ ` are typed; the lines after each must be what it prints, where `…` stands for any lines.
`ttmem run` goes on in the background until the next one. Process ids (47xx on the pages), ages, the user
and the folder are those of the page.
"""

import getpass
import os
import pathlib
import re
import subprocess
import tempfile
import time

import pytest
from conftest import SOURCE, tracking_environment
from test_track import need
from support import built
from support.waiting import DEADLINE_SECONDS

PAGES = ("tutorial.md", "how-to/ci.md", "how-to/find-the-line.md", "how-to/out-of-memory.md")
FENCE = re.compile(r"^```(python|console)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(page):
    """What is done on a page, in order: ("file", name, text) or ("type", command, lines shown)."""
    text = (SOURCE / "docs" / page).read_text(encoding="utf-8")
    for language, block in FENCE.findall(text):
        name = re.match(r"# (\w+\.py)\n", block)
        if language == "python" and name:
            yield "file", name.group(1), block
        elif language == "console":
            for typed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                yield ("type", typed[0], typed[1].splitlines())


def plain(line):
    line = re.sub(r"\b47\d\d\b", "PID", line)
    line = re.sub(r"\b[\d.]+ ?s\b", "AGE", line)
    line = re.sub(r"[-_=]{4,}", "----", line)
    return " ".join(line.split())


def without_last_minute(lines):
    """Leaves out what a table says of the last minute: a busy machine takes longer than that."""
    kept = []
    column = None
    for line in lines:
        found = re.search(r"( +\w+ last min)+", line)
        column = found.span() if found else column
        kept.append(line[: column[0]] + line[column[1] :] if column else line)
        column = column if line else None
    return kept


def shows(shown, printed):
    """Whether the lines of a page are those that were printed; `…` stands for any lines."""
    if not shown:
        return not printed
    if shown[0].strip() == "…":
        return any(shows(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and shows(shown[1:], printed[1:])


class Session:
    """A terminal in a folder of its own, where `ttmem` and `python` are those that are tested."""

    def __init__(self, folder):
        python = need("python", 10)
        descriptors = need("descriptors")
        commands = folder / "commands"
        commands.mkdir()
        (commands / "ttmem").symlink_to(built.TTMEM)
        segments = folder / "segments"
        segments.mkdir(mode=0o700)
        self.folder = folder / "work"
        self.folder.mkdir()
        self.program = None
        self.pids = []
        self.environment = tracking_environment(
            segments,
            PATH=os.pathsep.join([str(commands), os.path.dirname(python), os.environ["PATH"]]),
            PYTEST_ADDOPTS="-p ttmem.pytest_plugin -p no:cacheprovider",
            TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(descriptors, "n150.yaml"),
            TT_METAL_CACHE=os.path.join(os.path.dirname(descriptors), "kernels-python"),
            TT_LOGGER_LEVEL="error",
        )

    def own_words(self, text):
        """What was printed, in the words of the page."""
        text = text.replace(str(self.folder), "/home/user")
        text = re.sub(rf"\b{re.escape(getpass.getuser())}\b", "user", text)
        for pid in self.pids:
            text = re.sub(rf"\b{pid}\b", "4711", text)
        # tests keep segments where there is room, pages in shared memory
        text = re.sub(r"\n*Notices\n.*its segment is not in shared memory.*\n", "\n", text)
        return [plain(line) for line in without_last_minute(text.rstrip().splitlines())]

    def type(self, command, shown):
        shown = [plain(line) for line in without_last_minute(shown)]
        if self.program:
            command = re.sub(r"\b47\d\d\b", str(self.program.pid), command)
        if command.startswith("ttmem run"):
            self.end()
            self.start(command)
        until = time.monotonic() + DEADLINE_SECONDS
        printed = []
        while time.monotonic() < until:
            printed = self.own_words(self.printed_by(command))
            if shows(shown, printed):
                return
            time.sleep(0.3)
        raise AssertionError(
            "\n".join(["$ " + command, *printed, "", "but the page shows", "", *shown]))

    def printed_by(self, command):
        if command.startswith("ttmem run"):
            return (self.folder.parent / "printed").read_text(encoding="utf-8", errors="replace")
        done = subprocess.run(
            ["bash", "-c", command], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        return done.stdout

    def start(self, command):
        with open(self.folder.parent / "printed", "wb") as file:
            self.program = subprocess.Popen(
                ["bash", "-c", "exec " + command], env=self.environment, cwd=self.folder,
                stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT)
        self.pids.append(self.program.pid)

    def end(self):
        if self.program:
            self.program.communicate(b"\n", timeout=DEADLINE_SECONDS)


@pytest.fixture
def folder():
    """One with a short name: tables shorten long ones."""
    with tempfile.TemporaryDirectory(prefix="w") as name:
        yield pathlib.Path(name)


@pytest.mark.parametrize("page", PAGES)
def test_page(page, folder):
    session = Session(folder)
    typed = 0
    try:
        for kind, name, content in steps(page):
            if kind == "file":
                (session.folder / name).write_text(content, encoding="utf-8")
            else:
                session.type(name, content)
                typed += 1
    finally:
        session.end()
    assert typed
