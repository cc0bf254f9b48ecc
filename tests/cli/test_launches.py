# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Which program ran when, from outside: rates, replays, every launch as an event, and the rings."""

import json
import threading

import pytest

from support import built, command
from support.recording_host import Host
from support.waiting import eventually


@pytest.fixture
def start():
    hosts = []

    def begin(*before):
        hosts.append(Host(*before))
        hosts[-1].tell_of_three_programs()
        return hosts[-1]
    yield begin
    for host in hosts:
        host.end()


class Busy:
    """Tells a host the same lines again and again."""

    def __init__(self, host, *lines):
        self.host, self.lines, self.over = host, lines, threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        while not self.over.wait(0.001):
            self.host.tell(*self.lines)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def programs():
    return command.document("status", "--programs")["programs"]


def test_programs_come_by_what_they_run_now(start):
    host = start()
    host.tell("launch 2", "launch 2", "launch 2", "launch 3")

    def as_it_runs():
        """A busy machine may leave it few launches between two looks."""
        found = programs()
        rates = [each["recent_per_second"] for each in found]
        return ([each["name"] for each in found] == ["op1", "op3", "op2"] and rates[0] > rates[1] > 0 and rates[2] == 0
                and rates[0] == pytest.approx(2 * rates[1], rel=0.25))
    with Busy(host, "launch 1", "launch 1", "launch 3"):
        eventually(as_it_runs, "twice as many launches")
    lines = command.text("status", "--programs").splitlines()
    assert "Now" in lines[1] and "Replays" in lines[1]


def test_a_replay_is_a_launch_of_each_member(start):
    host = start()
    host.tell("launch 1", "launch 2", "trace 7 1 1 2", "replay 7")
    with Busy(host, "replay 7"):
        found = eventually(lambda: (now := {each["name"]: each for each in programs()})["op1"]["recent_per_second"] and now)
    assert found["op1"]["replays"] == found["op2"]["replays"] > 1
    assert found["op1"]["dispatches"] == 1, "replays are counted beside, and labelled"
    assert found["op1"]["recent_per_second"] == found["op2"]["recent_per_second"] > 0
    assert found["op3"]["replays"] == 0 and found["op3"]["recent_per_second"] == 0


def launched():
    events = [json.loads(line) for line in command.text("events", "--json").splitlines()]
    return [each for each in events if each["event"] == "launched"]


def test_every_launch_is_an_event_if_asked_for(start):
    host = start(built.TTMEM, "run", "--launches", "--")
    host.tell("ring 1 40000", "launch 1", "launch 1", "ring 2 40000", "launch 2",
              "ring 1 40000", "launch 1")
    found = launched()
    assert [(each["name"], each["count"], each["served"]) for each in found] == [
        ("op1", 1, "first_load"), ("op1", 2, "hit"), ("op2", 1, "first_load"), ("op1", 3, "reload")]
    assert [each["workload"] for each in found] == ["0x1", "0x1", "0x2", "0x1"]
    times = [each["time_ns"] for each in found]
    assert times == sorted(times) and all(times)
    assert all([device["id"] for device in each["devices"]] == [0] for each in found)
    assert "op1, workload 0x1, launch 3, reload" in command.text("events")


def test_launches_are_no_events_otherwise(start):
    host = start(built.TTMEM, "run", "--")
    host.tell("launch 1", "launch 1")
    assert launched() == []


def test_launches_that_were_overwritten_are_counted(start):
    host = start(built.TTMEM, "run", "--launches", "--")
    host.tell(*(["launch 1"] * 9000))
    events = [json.loads(line) for line in command.text("events", "--json").splitlines()]
    (gap,) = [each for each in events if each["event"] == "gap"]
    found = [each for each in events if each["event"] == "launched"]
    assert found[-1]["count"] == 9000
    assert {each["name"] for each in found} == {"op1"}, "of programs from before the gap, too"
    assert gap["missed"] + len(events) - 1 == events[-1]["number"]
    assert [each["count"] for each in found] == list(range(9001 - len(found), 9001))


def test_the_room_in_the_ring(start):
    host = start()
    host.tell("launch 1", "launch 2", "launch 3", "ring 1 20000", "ring 2 20000", "ring 3 20000")
    ring = command.document("status")["devices"][0]["ring"]
    assert (ring["free"], ring["largest_free"], ring["would_evict"]) == (10_656, 10_656, 1)
    assert "10.4 KiB without a live program; one of 10.4 KiB could come next and evict none, the largest would evict 1" \
        in command.text("status")
    host.tell("release 1")
    ring = command.document("status")["devices"][0]["ring"]
    assert (ring["free"], ring["largest_free"], ring["would_evict"]) == (30_656, 20_000, 0)


def test_shared_code_is_told(start):
    host = start()
    host.tell("launch 1", "launch 2", "launch 3")
    kernels = command.document("status")["devices"][0]["kernels"]
    assert (kernels["code_bytes"], kernels["unique_bytes"]) == (10_700, 5_700)
    assert [(each["bytes"], each["kernels"]) for each in kernels["shared_code"]] == [(5_000, 2)]
    assert "code 10.4 KiB, 4.9 KiB of it the same again" in command.text("status")
