# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Garbage, endless, slow, huge and very many requests: refused or served, and nobody else waits."""

import contextlib
import json
import os
import random
import resource
import socket
import time

import pytest

from daemon import receive_all, workload
from support.waiting import DEADLINE_SECONDS, eventually

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLOSE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture
def daemon(daemons):
    return daemons()


def is_well(daemon):
    return daemon.document("/healthz")["status"] == "ok"


@pytest.mark.parametrize("data, status", [
    (b"hello\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), 400),
    (b"GET / HTTP/9.9\r\n\r\n", 505),
    (b"GET http://x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /a%0d%0aSet-Cookie:x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 413),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", 400),
    (b"POST /api/v1/recordings/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n", 413),
    (b"POST /api/v1/recordings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 413),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 413),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nName with space: x\r\n\r\n", 400),
])
def test_what_is_no_good_request(daemon, data, status):
    answer = daemon.raw(data)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer[:200]
    error = json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]
    assert error["status"] == status and error["message"]
    assert is_well(daemon)


def test_heads_without_end(daemon):
    with daemon.socket() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            for number in range(10_000):
                connection.sendall(b"X-%d: %s\r\n" % (number, b"y" * 1000))
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = receive_all(connection)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    assert daemon.raw(b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n").startswith(b"HTTP/1.1 431 ")
    assert is_well(daemon)


def test_byte_by_byte_and_all_at_once(daemon):
    with daemon.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in CLOSE:
            connection.sendall(bytes([byte]))
        assert receive_all(connection).startswith(b"HTTP/1.1 200 ")
    answer = daemon.raw(GET * 99 + CLOSE)
    assert answer.count(b"HTTP/1.1 200 OK") == 100
    old = daemon.raw(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert old.startswith(b"HTTP/1.1 200 ") and b"Connection: close" in old


def test_random_bytes_never_stop_it(daemon):
    chooser = random.Random(11)
    for _ in range(300):
        data = bytearray(GET)
        for _ in range(chooser.randrange(1, 12)):
            data[chooser.randrange(len(data))] = chooser.randrange(256)
        with daemon.socket() as connection:
            connection.sendall(bytes(data[:chooser.randrange(len(data))]))
    assert is_well(daemon)


def test_a_request_that_does_not_arrive_is_given_up(daemon):
    """Ten seconds, and everybody else is served meanwhile."""
    begin = time.monotonic()
    with daemon.socket() as silent, daemon.socket() as half, daemon.socket() as trickle:
        half.sendall(b"GET /healthz HT")
        trickle.settimeout(0.5)
        closed = None
        while closed is None and time.monotonic() < begin + DEADLINE_SECONDS:
            with contextlib.suppress(ConnectionError):
                trickle.sendall(b"X")
            assert is_well(daemon)
            try:
                closed = time.monotonic() if trickle.recv(1) == b"" else None
            except socket.timeout:
                pass
            except ConnectionError:
                closed = time.monotonic()
        assert closed is not None and closed - begin > 5
        for connection in (silent, half):
            assert receive_all(connection) == b""


def test_a_reader_that_takes_nothing_holds_nobody_up(daemon):
    with workload("--devices", "32", "--processes", "4"):
        daemon.catch_up()
        stuck = []
        for _ in range(20):
            connection = daemon.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(b"GET /api/v1/snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
            stuck.append(connection)
        for _ in range(20):
            assert is_well(daemon)
        for connection in stuck:
            connection.close()


def test_a_thousand_connections(daemon):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    connections = [daemon.socket() for _ in range(1000)]
    assert is_well(daemon)
    for connection in connections[::100]:
        connection.sendall(CLOSE)
        assert receive_all(connection).startswith(b"HTTP/1.1 200 ")
    for connection in connections:
        connection.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    descriptors = f"/proc/{daemon.process.pid}/fd"
    eventually(lambda: len(os.listdir(descriptors)) < 50)
    with open(f"/proc/{daemon.process.pid}/statm", encoding="utf-8") as file:
        assert int(file.read().split()[1]) * 4096 < 64 << 20
