# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""An hour of a busy machine: 50 processes that come and go, daemons that are killed, streams and scrapes.

After a warm-up nothing grows, and at every minute the figures are those of the processes that live.
TTMEM_SOAK_SECONDS (3600) makes it shorter.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from support.built import TTMEM

SECONDS = float(os.environ.get("TTMEM_SOAK_SECONDS", "3600"))
CHECK_EVERY = min(60.0, SECONDS / 12)
PROCESSES = 50
DEMO_DRAM = 26_214_400  # requested by one process of the demonstration


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Daemon:
    """`ttmem serve`, and a client that follows its stream."""

    def __init__(self, port):
        self.port = port
        self.process = subprocess.Popen([TTMEM, "serve", "--http", f"127.0.0.1:{port}", "--legacy-socket", "off",
                                         "--history", "history.db"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stream = None

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

    def wait(self):
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            try:
                self.get("/healthz")
                break
            except OSError:
                time.sleep(0.1)
        self.stream = socket.create_connection(("127.0.0.1", self.port))
        self.stream.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.stream.setblocking(False)

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


def test_soak():
    random.seed(seed := random.randrange(1 << 32))
    print(f"seed {seed}, {SECONDS:.0f} s", file=sys.stderr)
    processes = [start_process() for _ in range(PROCESSES)]
    for each in processes:
        assert "process" in each.stdout.readline()
    daemon = Daemon(free_port())
    daemon.wait()
    end = time.monotonic() + SECONDS
    next_check = time.monotonic() + CHECK_EVERY
    warm = None  # facts of this daemon after its warm-up
    checks = 0
    try:
        while time.monotonic() < end:
            victim = random.randrange(len(processes))
            processes[victim].send_signal(random.choice((signal.SIGKILL, signal.SIGTERM)))
            processes[victim].wait()
            processes[victim] = start_process()
            assert "process" in processes[victim].stdout.readline()
            daemon.get(random.choice(("/metrics", "/healthz", "/api/v1/snapshot", "/api/v1/holdings?limit=50")))
            daemon.drain()
            time.sleep(random.random() / 4)
            if time.monotonic() < next_check:
                continue
            next_check = time.monotonic() + CHECK_EVERY
            checks += 1
            figures_agree(daemon, PROCESSES)
            resident, descriptors = daemon.facts()
            print(f"check {checks}: {resident} KiB, {descriptors} descriptors", file=sys.stderr)
            if checks % 6 == 0:
                daemon.kill()
                daemon = Daemon(free_port())
                daemon.wait()
                warm = None
            elif checks % 6 >= 2:
                warm = warm or (resident, descriptors)
                assert resident < 1.25 * warm[0] + 8192, f"{resident} KiB after {warm[0]}"
                assert descriptors < warm[1] + 40, f"{descriptors} descriptors after {warm[1]}"
        assert checks >= 8
    finally:
        daemon.kill()
        for each in processes:
            each.kill()
            each.wait()
