# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""/api/v1/events: deltas give exactly the snapshot, lost readers go on, slow ones are dropped."""

import re
import socket
import time

import pytest

from daemon import without_times, workload
from support.waiting import eventually


@pytest.fixture
def daemon(daemons):
    return daemons()


def test_a_stream_starts_with_the_snapshot(daemon):
    stream = daemon.stream()
    assert stream.status == b"HTTP/1.1 200 OK\r\n"
    assert stream.headers["Content-Type"] == "text/event-stream"
    assert stream.headers["Connection"] == "close"
    assert stream.message()[0] == "snapshot"
    assert without_times(stream.snapshot) == without_times(daemon.document("/api/v1/snapshot"))
    stream.close()


def test_deltas_give_exactly_the_snapshot(daemon):
    stream = daemon.stream()
    stream.message()
    with workload("--devices", "2") as (pid,):
        stream.until(lambda s: s.snapshot["processes"] and s.snapshot["processes"][0]["alive"]
                     and s.snapshot["devices"][0]["kernels"]["total"]["footprint"] == 9_203_712)
        assert without_times(stream.snapshot) == without_times(
            daemon.document("/api/v1/snapshot"))
        stream.until(lambda s: [e["event"] for e in s.events].count("program_loaded") == 3)
        assert {event["pid"] for event in stream.events} == {pid}
        numbers = [event["number"] for event in stream.events if event["number"]]
        assert numbers == sorted(set(numbers))
    stream.until(lambda s: not s.snapshot["processes"] or not s.snapshot["processes"][0]["alive"])
    assert without_times(stream.snapshot) == without_times(daemon.document("/api/v1/snapshot"))
    stream.close()


def test_deltas_hold_under_load(daemon):
    with workload("--scenario", "busy", "--devices", "4", "--processes", "3"):
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 3)
        stream = daemon.stream()
        kinds = [stream.message()[0] for _ in range(200)]
        assert kinds[0] == "snapshot" and "delta" in kinds
    stream.until(lambda s: not any(p["alive"] for p in s.snapshot["processes"]))
    assert without_times(stream.snapshot) == without_times(daemon.document("/api/v1/snapshot"))
    stream.close()


def test_a_delta_has_only_what_changed(daemon):
    with workload("--devices", "8"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        stream = daemon.stream()
        stream.message()
        whole = len(str(stream.snapshot))
        with workload("--devices", "1") as (pid,):
            while True:
                event, data = stream.message()
                if event == "delta" and any(p["pid"] == pid for p in data["processes"]):
                    break
            assert len(str(data)) < whole / 3
            assert [device["id"] for device in data["devices"]] in ([0], [0, 8], [8])
        stream.close()


def test_whoever_comes_back_gets_what_it_missed(daemon):
    keeper = daemon.stream()
    keeper.message()
    stream = daemon.stream()
    stream.message()
    assert re.fullmatch(r"[0-9a-f]+-[0-9a-f]+-\d+", stream.last)
    snapshot, last = stream.snapshot, stream.last
    stream.close()
    with workload():
        keeper.until(lambda s: [e["event"] for e in s.events].count("program_loaded") == 3)
        again = daemon.stream(last)
        again.snapshot = snapshot
        again.until(lambda s: [e["event"] for e in s.events].count("program_loaded") == 3)
        assert again.events == keeper.events
        again.until(lambda s: without_times(s.snapshot) == without_times(keeper.snapshot))
        for unknown in ("nonsense", "1-2-3", last.rsplit("-", 1)[0] + "-999999"):
            fresh = daemon.stream(unknown)
            assert fresh.message()[0] == "snapshot"
            fresh.close()
        again.close()
    keeper.close()


def test_alone_and_away_starts_with_a_snapshot(daemon):
    stream = daemon.stream()
    stream.message()
    last = stream.last
    stream.close()
    eventually(lambda: b'ttmem_self_' in daemon.ask("/metrics")[2])
    time.sleep(1.5)  # the daemon looks once without a reader
    again = daemon.stream(last)
    assert again.message()[0] == "snapshot"
    again.close()


def test_a_reader_that_does_not_read_is_dropped(daemon):
    with workload("--scenario", "busy", "--devices", "8", "--processes", "4"):
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 4)
        good = daemon.stream()
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((daemon.host, daemon.port))
        slow.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")

        def dropped():
            for _ in range(5):
                good.message()
            text = daemon.ask("/metrics")[2].decode()
            counts = [float(line.split()[-1]) for line in text.splitlines()
                      if line.startswith("ttmem_self") and "dropped" in line]
            return counts and counts[0] >= 1
        eventually(dropped)
        good.message()
        good.close()
        slow.close()
