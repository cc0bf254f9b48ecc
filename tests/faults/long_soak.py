# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""An hour of a busy machine: 50 processes that come and go, daemons that are killed, streams and scrapes.

In the first third the daemon is killed every few minutes, and goes on with the history of the one before. The
last one stays: after a warm-up it does not grow. At every minute the figures are those of the processes that
live. TTMEM_SOAK_SECONDS (3600) makes it shorter.
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from support.built import TTMEM

SECONDS = float(os.environ.get("TTMEM_SOAK_SECONDS", "3600"))
CHECKS = 60
CHECK_EVERY = SECONDS / CHECKS
KILLED_AFTER = (4, 8, 12, 16, 20)  # checks
# After the checks of warming up the highest of some is compared with the highest of those that follow: what is
# kept of the dead goes up and down with each minute in which files of the dead are removed.
WARM = slice(29, 44)
LATER = slice(44, CHECKS)
SECONDS_TO_JUDGE_GROWTH = 1200
PROCESSES = 50
DEMO_DRAM = 26_214_400  # requested by one process of the demonstration
# What the allocator of the C library keeps, and the history of another quarter of an hour.
GROWTH_KIB = 8 * 1024
GROWTH_DESCRIPTORS = 2 * PROCESSES  # of the dead that are still kept, which come and go


LISTENS = re.compile(r"listening on http://127.0.0.1:(\d+)")


class Daemon:
    """`ttmem serve`, and a client that follows its stream."""

    def __init__(self):
        with tempfile.TemporaryFile(mode="w+", encoding="utf-8") as log:
            self.process = subprocess.Popen([TTMEM, "serve", "--http", "127.0.0.1:0", "--legacy-socket", "off",
                                             "--history", "history.db", "--recording", "rolling.ttm",
                                             "--recording-minutes", "3"], stdout=log, stderr=log)
            self.stream = None
            try:
                self.port = self.wait_for_port(log)
                self.follow()
            except BaseException:
                self.kill()
                raise

    def wait_for_port(self, log):
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and self.process.poll() is None:
            log.seek(0)
            if found := LISTENS.search(log.read()):
                return int(found.group(1))
            time.sleep(0.1)
        log.seek(0)
        raise AssertionError(f"the daemon does not listen: {log.read()}")

    def follow(self):
        self.stream = socket.create_connection(("127.0.0.1", self.port))
        self.stream.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.stream.setblocking(False)

    def get(self, path):
        """A daemon that is busy says so, and is asked again."""
        deadline = time.monotonic() + 300
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=120) as answer:
                    return answer.read()
            except urllib.error.HTTPError as refused:
                if refused.code != 503 or time.monotonic() > deadline:
                    raise
            time.sleep(1)

    def drain(self):
        try:
            while self.stream.recv(1 << 20):
                pass
        except BlockingIOError:
            pass

    def facts(self):
        """Resident KiB and open descriptors."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
        return resident, len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def kill(self):
        self.process.kill()
        self.process.wait()
        if self.stream:
            self.stream.close()


def start_process():
    return subprocess.Popen([TTMEM, "demo", "--hold", "86400"], stdout=subprocess.PIPE, text=True)


def living(document):
    return [each for each in document["processes"] if each["alive"]]


def figures_agree(daemon, count):
    """Waits until the daemon tells exactly the processes that live; then the sums must be theirs."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        document = json.loads(daemon.get("/api/v1/snapshot"))
        if len(living(document)) == count:
            break
        time.sleep(0.2)
    told = living(document)
    assert len(told) == count, f"{len(told)} of {count} processes are told"
    requested = sum(device["dram"]["requested"] for device in document["devices"])
    assert requested == count * DEMO_DRAM, f"{requested} bytes of {count} processes"
    assert requested == sum(each["held"]["dram_requested"] for each in told)


def exchange(processes):
    """One of them goes, one way or the other, and another one comes."""
    victim = random.randrange(len(processes))
    processes[victim].send_signal(random.choice((signal.SIGKILL, signal.SIGTERM)))
    processes[victim].wait()
    processes[victim].stdout.close()
    processes[victim] = start_process()
    assert "process" in processes[victim].stdout.readline()


def check_growth(facts):
    if SECONDS < SECONDS_TO_JUDGE_GROWTH:
        print("too short to judge growth", file=sys.stderr)
        return
    for kind, most in enumerate((GROWTH_KIB, GROWTH_DESCRIPTORS)):
        before, after = (max(each[kind] for each in facts[part]) for part in (WARM, LATER))
        assert after <= before + most, f"{before}, then {after}"


def test_soak():
    random.seed(seed := random.randrange(1 << 32))
    print(f"seed {seed}, {SECONDS:.0f} s", file=sys.stderr, flush=True)
    processes = [start_process() for _ in range(PROCESSES)]
    for each in processes:
        assert "process" in each.stdout.readline()
    daemon = Daemon()
    facts = []
    exchanged = 0
    try:
        for number in range(1, CHECKS + 1):
            next_check = time.monotonic() + CHECK_EVERY
            while time.monotonic() < next_check:
                exchange(processes)
                exchanged += 1
                daemon.get(random.choice(("/metrics", "/healthz", "/api/v1/snapshot", "/api/v1/holdings?limit=50")))
                daemon.drain()
                time.sleep(random.random() / 4)
            figures_agree(daemon, PROCESSES)
            facts.append(daemon.facts())
            print(f"check {number}: {facts[-1][0]} KiB, {facts[-1][1]} descriptors", file=sys.stderr, flush=True)
            if number in KILLED_AFTER:
                daemon.kill()
                daemon = Daemon()
        print(f"{exchanged} processes came and went", file=sys.stderr)
        assert exchanged >= CHECKS
        check_growth(facts)
    finally:
        daemon.kill()
        for each in processes:
            each.kill()
            each.wait()
