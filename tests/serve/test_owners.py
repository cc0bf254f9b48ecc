# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""One user of the daemon takes neither its time nor its log nor its memory from the others."""

import contextlib
import json
import os
import resource
import socket
import subprocess
import threading
import time

import pytest

from daemon import reading, workload
from legacy_client import DRAM, DUMP_KERNELS, KERNEL_LOAD, ALLOC, Client, Process, message
from support import command
from support.stage import staged
from support.waiting import eventually

MOST_CPU_SECONDS = 0.5  # in one turn of the loop; a daemon that could be stopped took 15 and more
MOST_WORK_CPU_SECONDS = 5  # in one look or answer, of a core; hung daemons took more than a minute


@pytest.fixture
def daemon(folder, daemons):
    running = daemons(legacy=os.path.join(folder, "legacy.sock"))
    running.legacy = os.path.join(folder, "legacy.sock")
    eventually(lambda: os.path.exists(running.legacy))
    return running


def flood(path, data):
    """Sends it all on one connection, and reads what comes back, as another thread."""
    client = Client(path)
    client.socket.settimeout(None)

    def drain():
        with contextlib.suppress(OSError):
            while client.socket.recv(1 << 20):
                pass

    def send():
        with contextlib.suppress(OSError):
            client.socket.sendall(data)
    threads = [threading.Thread(target=each, daemon=True) for each in (drain, send)]
    for each in threads:
        each.start()
    return client


def assert_others_are_answered(daemon, times):
    """While something else goes on. What counts is the daemon's own time on a core: how long that
    takes by the clock is a question of what else the machine does."""
    for _ in range(times):
        assert daemon.document("/healthz")["status"] == "ok"
    health = daemon.document("/healthz")["self"]
    assert 0 < health["loop_cpu_seconds"] < MOST_CPU_SECONDS, health
    assert 0 < health["work_cpu_seconds"] < MOST_WORK_CPU_SECONDS, health


def assert_turns_are_short(daemon):
    """Nobody made all others wait: by the time that the loop's thread had on a core."""
    longest = daemon.document("/healthz")["self"]["loop_cpu_seconds"]
    assert 0 < longest < MOST_CPU_SECONDS, longest


def test_dumps_neither_stop_the_daemon_nor_fill_its_log(daemon):
    begun = time.monotonic()
    loads = b"".join(message(KERNEL_LOAD, 0, 1024, 0, os.getpid(), i) for i in range(1, 4097))
    client = Client(daemon.legacy)
    client.socket.sendall(loads)
    client.query(0)
    flooding = flood(daemon.legacy, message(DUMP_KERNELS) * 900)
    assert_others_are_answered(daemon, 20)
    eventually(lambda: "causes too many lines" in daemon.log())
    flooding.close()
    client.close()
    daemon.stop()
    # Some MiB at once and 64 KiB per second; all of it is hundreds.
    assert os.path.getsize(daemon.log_path) < (16 << 20) + (time.monotonic() - begun) * (64 << 10)
    assert "were left out" in daemon.log()


def test_a_peer_that_does_not_take_its_answers_is_not_answered_further(daemon):
    client = Client(daemon.legacy)
    client.socket.sendall(
        b"".join(message(KERNEL_LOAD, 0, 1024, 0, os.getpid(), i) for i in range(1, 4097)))
    client.query(0)
    before = daemon.document("/healthz")["self"]["resident_bytes"]
    client.socket.setblocking(False)
    try:
        client.socket.send(message(DUMP_KERNELS) * 400)
    except BlockingIOError:
        pass
    assert_others_are_answered(daemon, 10)
    assert daemon.document("/healthz")["self"]["resident_bytes"] < before + (32 << 20)
    assert_turns_are_short(daemon)


def test_mistakes_fill_no_log(daemon):
    begun = time.monotonic()
    bad = message(ALLOC, -7, 4096, DRAM, os.getpid(), 1)
    client = Client(daemon.legacy)
    client.socket.sendall(message(ALLOC, 0, 4096, DRAM, os.getpid(), 1) + bad * 50_000)
    assert client.query(0)["dram"] == 4096
    assert_turns_are_short(daemon)
    client.close()
    daemon.stop()
    lines = daemon.log().splitlines()
    assert len(lines) < 1000 + 10 * (time.monotonic() - begun)
    assert any("causes too many lines" in line for line in lines)


def test_a_process_that_leaves_many_equal_circular_buffers_ends_quickly(daemon):
    other = Process(daemon.legacy)
    for _ in range(10):
        other.flood_cbs(10_000)
    assert other.query(0)["cb"] == 100_000
    other.kill()
    assert_others_are_answered(daemon, 10)
    eventually(lambda: Client(daemon.legacy).query(0)["cb"] == 0)
    assert_turns_are_short(daemon)


ENTRIES = """
import socket, sys
sys.path.insert(0, sys.argv[2])
from legacy_client import ALLOC, DRAM, Client, message
import os
client = Client(sys.argv[1])
client.socket.settimeout(60)
for begin in range(1, 400_001, 1000):
    client.socket.sendall(b"".join(message(ALLOC, 0, 4096, DRAM, os.getpid(), i)
                                   for i in range(begin, begin + 1000)))
print(client.query(0)["dram"] // 4096, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_entries_of_one_user_leave_room_for_others(daemon, folder):
    os.chmod(daemon.legacy, 0o666)
    for path in (folder, os.path.dirname(folder)):
        os.chmod(path, 0o755)
    crowd = subprocess.Popen(["python3", "-B", "-c", ENTRIES, daemon.legacy, os.path.dirname(__file__)],
                             user=65533, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert_others_are_answered(daemon, 10)
        assert int(crowd.stdout.readline()) == 1 << 18  # a quarter; the others were refused
        victim = Client(daemon.legacy)
        victim.alloc(1, 4096, DRAM, 1)
        assert victim.query(1)["dram"] == 4096
        assert_turns_are_short(daemon)
        assert daemon.document("/healthz")["self"]["resident_bytes"] < 256 << 20
        victim.close()
    finally:
        crowd.stdin.close()
        crowd.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_many_files_of_a_stranger_neither_stop_nor_blind_the_daemon(daemons):
    directory = os.environ["TTMEM_DIR"]
    with workload():
        names = [name for name in os.listdir(directory) if name.startswith("ttmem-")]
        with open(os.path.join(directory, names[0]), "rb") as file:
            size = os.path.getsize(file.name)
            begin = file.read(1 << 16)  # the whole is a large file with holes
        for i in range(5_000):
            path = os.path.join(directory, f"ttmem-{i + 2}-1-{i:016x}")
            with open(path, "wb") as file:
                file.write(begin if i < 100 else b"nonsense")
                file.truncate(size)
            os.chown(path, 65533, 65533)
        daemon = daemons()
        assert_others_are_answered(daemon, 20)
        told = eventually(lambda: [each for each in daemon.document("/api/v1/processes")["processes"]
                                   if each["alive"] and each["uid"] == os.geteuid()])
        assert len(told) == 1
        assert_turns_are_short(daemon)


# ---- HTTP ---------------------------------------------------------------------------------------

CROWD = """
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (6000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
streams = []
for _ in range(int(sys.argv[2])):
    each = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=120)
    each.sendall(b"GET /api/v1/events HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    streams.append(each)
print("connected", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_streams_of_one_user_leave_room_for_others(daemons):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 17_000:
        pytest.skip("too few descriptors are allowed here")
    daemon = daemons()
    crowd = subprocess.Popen(["python3", "-c", CROWD, str(daemon.port), "4300"], user=65533,
                             cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert crowd.stdout.readline() == "connected\n"
        streams = [daemon.stream() for _ in range(20)]
        assert all(each.message()[0] == "snapshot" for each in streams)
        # Shares are given out when somebody comes, a few times per second.
        eventually(lambda: daemon.document("/healthz")["self"]["connections"] < 2000)
        assert_turns_are_short(daemon)
        for each in streams:
            each.close()
    finally:
        crowd.stdin.close()
        crowd.wait()


def test_readers_that_never_read_and_readers_that_come_back_share_what_they_wait_for(daemons):
    daemon = daemons()
    with workload("--scenario", "busy", "--processes", "10", "--devices", "8"):
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 10)
        first = daemon.stream()
        first.message()
        before = daemon.document("/healthz")["self"]["resident_bytes"]
        last = first.last
        deaf = []
        with reading(daemon) as came:
            for i in range(150):
                connection = daemon.socket()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                old = f"Last-Event-ID: {last}\r\n" if i % 2 else ""
                connection.sendall(
                    f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n{old}\r\n".encode())
                deaf.append(connection)
            read = came()
            eventually(lambda: came() >= read + 30)
        after = daemon.document("/healthz")["self"]["resident_bytes"]
        assert_turns_are_short(daemon)
        for each in deaf:
            each.close()
        first.close()
    assert after - before < 64 << 20


def test_long_texts_and_answers_that_nobody_takes_cost_little(daemons):
    daemon = daemons()
    with staged() as play:
        play("open")
        for _ in range(4):
            play("push", name="x" * 60_000)
        for i in range(1, 5001):
            play("allocate", id=i, address=1_048_640 + i * 4096, block=4096)
        path = "/api/v1/holdings?limit=10000"
        eventually(lambda: daemon.document(path)["total"] == 5000)
        deaf = []
        for _ in range(100):
            connection = daemon.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            deaf.append(connection)
        assert_others_are_answered(daemon, 10)
        page = daemon.ask(path)[2]
        health = daemon.document("/healthz")["self"]
        for each in deaf:
            each.close()
    assert len(page) < 2 << 20
    assert json.loads(page)["next"] is not None
    assert max(len(each["region"]) for each in json.loads(page)["holdings"]) < 4096
    assert health["resident_bytes"] < 256 << 20
    assert health["loop_cpu_seconds"] < MOST_CPU_SECONDS


def test_json_has_no_character_that_a_terminal_obeys(daemons):
    daemon = daemons()
    name = "a\u009b31mb\u202ec\u2066d\u007fe\u061cf\u200fg ä € 漢"
    with staged() as play:
        play("open")
        play("program", id=1, name=name, cores=[0, 0, 0, 0],
             kernels=[{"name": name, "bytes": 4}])
        body = eventually(lambda: b"a\\u009b31mb" in daemon.ask("/api/v1/programs")[2]
                          and daemon.ask("/api/v1/programs")[2])
        printed = command.text("status", "--programs", "--json")
    for text in (body.decode(), printed):
        assert not set(text) & set("\u009b\u202e\u2066\u007f\u061c\u200f")
        # The recorder itself takes what is no text of ASCII for a question mark.
        told = name.replace("\u007f", "?")
        assert any(each["name"] == told for each in json.loads(text)["programs"])
        assert "ä € 漢" in text
