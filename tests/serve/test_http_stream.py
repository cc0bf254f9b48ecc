# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""/api/v1/events: deltas give exactly the snapshot, lost readers go on, slow ones are dropped."""

import json
import re
import socket
import time
import zlib

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


def test_the_first_reader_sees_changes_at_once(daemon):
    with workload("--scenario", "busy", "--devices", "4", "--processes", "3"):
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 3)
        pauses = []
        for _ in range(5):
            stream = daemon.stream()
            stream.message()
            begin = time.monotonic()
            stream.message()
            pauses.append(time.monotonic() - begin)
            stream.close()
            eventually(lambda: daemon.document("/healthz")["self"]["connections"] == 1)
        # Without readers it looks once a second only.
        assert sorted(pauses)[2] < 0.5


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


def brief(snapshot):
    """As docs/http.md says: processes without their figures on each device."""
    keys = ("id", "unique_id", "metal_id", "open", "in_mesh", "contradiction")
    for process in snapshot["processes"]:
        process["devices"] = [{key: device[key] for key in keys} for device in process["devices"]]
    return snapshot


def test_a_brief_stream_without_events(daemon):
    with workload("--scenario", "busy", "--devices", "4", "--processes", "3"):
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 3)
        stream = daemon.stream(query="?events=0&brief=1")
        kinds = {stream.message()[0] for _ in range(30)}
        assert kinds == {"snapshot", "delta"}
    stream.until(lambda s: not any(p["alive"] for p in s.snapshot["processes"]))
    assert without_times(stream.snapshot) == without_times(
        brief(daemon.document("/api/v1/snapshot")))
    stream.close()


def test_what_a_process_holds_is_the_sum_over_its_devices(daemon):
    with workload("--devices", "4"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        process = daemon.document("/api/v1/processes")["processes"][0]
        for name, path in (("dram", ("dram", "taken")), ("l1", ("l1", "taken")),
                           ("program_l1", ("program_l1", "resident")),
                           ("dispatches", ("kernels", "dispatches"))):
            assert process["held"][name] == sum(
                device[path[0]][path[1]] for device in process["devices"]) > 0


def test_levels_of_cores_follow_the_exact_figures(daemon):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    with workload("--devices", "2"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        stream = daemon.stream(query="?events=0&cores=1")
        stream.until(lambda s: len(s.levels) == 2)
        document = daemon.document("/api/v1/devices/1/cores")
        grid = stream.levels[1]
        assert (grid["columns"], grid["rows"], len(grid["levels"])) == (8, 10, 80)
        for core in document["devices"][0]["cores"]:
            if core["role"] != "worker":
                continue
            used = core["program_l1"] + core["buffers"] + core["l1_small_taken"]
            share = used / (core["l1_bytes"] - core["fixed"] - core["ring"])
            level = letters.index(grid["levels"][core["y"] * 8 + core["x"]])
            assert level == (0 if used == 0 else min(63, int(1 + 62 * share)))
    stream.until(lambda s: set(s.levels[0]["levels"]) <= {"A", "."})
    stream.close()


def read_packed(daemon, query, seconds):
    """What a gzip reader understood of a stream after some time, and how many bytes came."""
    with daemon.socket() as connection:
        connection.sendall(f"GET /api/v1/events{query} HTTP/1.1\r\nHost: localhost\r\n"
                           "Accept-Encoding: gzip\r\n\r\n".encode())
        connection.settimeout(0.2)
        data, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                data += connection.recv(1 << 20)
            except TimeoutError:
                pass
    head, body = data.split(b"\r\n\r\n", 1)
    assert b"Content-Encoding: gzip" in head
    return zlib.decompressobj(31).decompress(body).decode(), len(body)


def test_packed_streams_say_the_same_and_every_message_at_once(daemon):
    with workload("--scenario", "busy", "--devices", "8"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        plain = daemon.stream()  # another reader, which came before and takes no gzip
        text, size = read_packed(daemon, "", 2)
        plain.close()
    assert size < len(text) / 5
    messages = text.split("\n\n")
    assert "\nevent: snapshot\n" in messages[0]
    assert messages[-1] == ""  # nothing is kept back in the middle of a message
    assert "event: delta" in text and "event: event" in text
    for message in messages[:-1]:
        json.loads(message.split("data: ", 1)[1])
