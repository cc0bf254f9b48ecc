# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A running server of the original's protocol, and what it logs."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from legacy_client import Client, Process  # noqa: E402
from support import built, command  # noqa: E402
from support.waiting import DEADLINE_SECONDS, eventually  # noqa: E402


class Server:
    def __init__(self, folder, *options):
        self.folder = folder
        self.options = options
        self.path = os.path.join(folder, "server.sock")
        self.processes = []
        self.start()

    def start(self):
        self.output = open(os.path.join(self.folder, "out.log"), "ab")
        self.errors = open(os.path.join(self.folder, "err.log"), "ab")
        self.server = subprocess.Popen(
            [built.program("legacy_server"), self.path, *self.options],
            stdout=self.output, stderr=self.errors)
        eventually(self.is_listening)

    def is_listening(self):
        assert self.server.poll() is None, self.error_text()
        try:
            Client(self.path).close()
            return True
        except OSError:
            return False

    def log(self):
        with open(os.path.join(self.folder, "out.log"), encoding="utf-8") as file:
            return file.read()

    def error_text(self):
        with open(os.path.join(self.folder, "err.log"), encoding="utf-8") as file:
            return file.read()

    def lines(self, part):
        return [line for line in self.log().splitlines() if part in line]

    def wait_for_line(self, part):
        return eventually(lambda: self.lines(part))

    def client(self, form=144):
        return Client(self.path, form)

    def process(self, form=144):
        process = Process(self.path, form)
        self.processes.append(process)
        return process

    def kill(self):
        self.server.kill()
        self.server.wait()

    def stop(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGCONT)
            self.server.terminate()
        return self.server.wait(DEADLINE_SECONDS)

    def end(self):
        for process in self.processes:
            if process.process.poll() is None:
                process.kill()
        if self.server.poll() is None:
            assert self.stop() == 0, self.error_text()


def status():
    """`ttmem status --json`: what readers see without any server."""
    return command.document("status")


def legacy_processes():
    return [each for each in status()["processes"] if each["sources"] == ["legacy"]]


@pytest.fixture
def folder(monkeypatch):
    """Sockets, logs and segments of one test."""
    with tempfile.TemporaryDirectory(prefix="ttmem-test.", dir="/dev/shm") as name:
        monkeypatch.setenv("TTMEM_DIR", os.path.join(name, "segments"))
        yield name


@pytest.fixture
def server(folder):
    running = Server(folder)
    yield running
    running.end()


@pytest.fixture
def daemons(folder):
    """Starts daemons with these options; all are ended after the test."""
    from daemon import Daemon
    started = []

    def start(*options, **others):
        started.append(Daemon(folder, *options, **others))
        return started[-1]
    yield start
    for each in started:
        assert each.process.poll() is not None or each.stop() == 0, each.log()
