# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""/api/v1/events: deltas give exactly the snapshot, lost readers go on, slow ones are dropped."""

import json
import re
import socket
import statistics
import time
import zlib

import pytest

from daemon import reading, without_times, workload
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
        daemon.catch_up()
        stream = daemon.stream()
        kinds = [stream.message()[0] for _ in range(200)]
        assert kinds[0] == "snapshot" and "delta" in kinds
    stream.until(lambda s: not any(p["alive"] for p in s.snapshot["processes"]))
    assert without_times(stream.snapshot) == without_times(daemon.document("/api/v1/snapshot"))
    stream.close()


def test_the_first_reader_sees_changes_at_once(daemon):
    """Without readers it looks once per second. Whoever comes then waits no longer for the first change than for
    three changes afterwards."""
    def delta(stream):
        while stream.message()[0] != "delta":
            pass
        return time.monotonic()

    with workload("--scenario", "busy", "--devices", "4", "--processes", "3"):
        daemon.catch_up()
        first, others = [], []
        for _ in range(9):
            stream = daemon.stream()
            stream.message()
            times = [time.monotonic(), *(delta(stream) for _ in range(4))]
            first.append(times[1] - times[0])
            others.append(times[4] - times[1])
            stream.close()
            eventually(lambda: daemon.document("/healthz")["self"]["connections"] == 1)
        assert statistics.median(first) < statistics.median(others)


def test_a_delta_has_only_what_changed(daemon):
    with workload("--devices", "8"):
        daemon.catch_up()
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
    eventually(lambda: daemon.document("/healthz")["self"]["connections"] == 1)
    daemon.catch_up()
    again = daemon.stream(last)
    assert again.message()[0] == "snapshot"
    again.close()


def test_a_reader_that_does_not_read_is_dropped(daemon):
    with workload("--scenario", "busy", "--devices", "8", "--processes", "4"):
        daemon.catch_up()
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((daemon.host, daemon.port))
        slow.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with reading(daemon) as came:
            eventually(lambda: daemon.self_figure("dropped_total") >= 1)
            before = came()
            eventually(lambda: came() > before, "others go on")
        slow.close()


def brief(snapshot):
    """As docs/http.md says: processes without their figures on each device."""
    keys = ("id", "unique_id", "metal_id", "open", "in_mesh", "contradiction")
    for process in snapshot["processes"]:
        process["devices"] = [{key: device[key] for key in keys} for device in process["devices"]]
    return snapshot


def test_a_brief_stream_without_events(daemon):
    with workload("--scenario", "busy", "--devices", "4", "--processes", "3"):
        daemon.catch_up()
        stream = daemon.stream(query="?events=0&brief=1")
        kinds = {stream.message()[0] for _ in range(30)}
        assert kinds == {"snapshot", "delta"}
    stream.until(lambda s: not any(p["alive"] for p in s.snapshot["processes"]))
    assert without_times(stream.snapshot) == without_times(
        brief(daemon.document("/api/v1/snapshot")))
    stream.close()


def test_what_a_process_holds_is_the_sum_over_its_devices(daemon):
    with workload("--devices", "4"):
        daemon.catch_up()
        process = daemon.document("/api/v1/processes")["processes"][0]
        for name, path in (("dram", ("dram", "taken")), ("l1", ("l1", "taken")),
                           ("program_l1", ("program_l1", "resident")),
                           ("dispatches", ("kernels", "dispatches"))):
            assert process["held"][name] == sum(
                device[path[0]][path[1]] for device in process["devices"]) > 0


def test_levels_of_cores_follow_the_exact_figures(daemon):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    with workload("--devices", "2"):
        daemon.catch_up()
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


class Packed:
    """What a gzip reader understands of a stream."""

    def __init__(self, connection):
        self.connection = connection
        connection.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        assert b"Content-Encoding: gzip" in head
        self.unpack, self.text, self.size = zlib.decompressobj(31), "", 0

    def until(self, condition):
        while not condition(self.text):
            data = self.connection.recv(1 << 20)
            assert data, "the stream ended"
            self.size += len(data)
            self.text += self.unpack.decompress(data).decode()


def test_packed_streams_say_the_same_and_every_message_at_once(daemon):
    with daemon.socket() as connection:
        with workload("--scenario", "busy", "--devices", "8"):
            daemon.catch_up()
            plain = daemon.stream()  # another reader, which came before and takes no gzip
            packed = Packed(connection)
            packed.until(lambda text: text.count("event: delta") > 10 and "event: event" in text)
            plain.close()
        # It is quiet now: what is kept back in the middle of a message never comes.
        packed.until(lambda text: '"alive":false' in text[-20_000:] and text.endswith("\n\n"))
    assert packed.size < len(packed.text) / 5
    messages = packed.text.split("\n\n")
    assert "\nevent: snapshot\n" in messages[0]
    for message in messages[:-1]:
        json.loads(message.split("data: ", 1)[1])
