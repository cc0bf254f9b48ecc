# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Programs, traces, the ring and clashes, recorded by a process and read from outside."""

import time

import pytest

from support import command
from support.recording_host import Host

WORKERS, L1_BYTES, PROGRAM_BASE = 110, 1_572_864, 111_616
PARTS = ("fixed", "ring", "program_l1", "gaps", "free", "buffers", "l1_small")
DRAM, L1, L1_SMALL = 0, 1, 3


@pytest.fixture
def host():
    running = Host()
    yield running
    running.end()


def the_device():
    return command.document("status")["devices"][0]


def resident():
    return the_device()["program_l1"]["resident"]


def test_registered_programs_count_no_kernel_byte(host):
    host.tell_of_three_programs()
    device = the_device()
    assert device["kernels"]["registered"] == 3
    assert device["kernels"]["total"] == {"count": 0, "programs": 0, "footprint": 0}
    assert device["program_l1"] == {
        "resident": 0,
        "reserved": WORKERS * 32_768,
        "allocated": WORKERS * 40_960,
        "peak": 0,
        "count": 3,
    }
    assert "3 programs registered" in command.text("status")
    assert command.text("status", "--programs").count("registered") == 3


def test_launches_are_told_by_program(host):
    host.tell_of_three_programs()
    host.tell("launch 1", "launch 2", "launch 2", "ring 1 40000", "ring 2 40000", "ring 1 40000",
              "launch 1", f"buffer 50 {DRAM} 1048704 8192", "binaries 1 50")
    time.sleep(0.05)  # launches are told to the tick of a coarse clock
    host.tell("launch 2")
    device = the_device()
    kernels = device["kernels"]
    assert kernels["total"]["footprint"] == WORKERS * 10_000
    assert kernels["unique_bytes"] == 5_000  # both have the same code
    assert kernels["in_dram"] == 8 * 8_192
    told = [kernels[name] for name in ("dispatches", "first_loads", "reloads", "cache_hits")]
    assert told == [5, 2, 1, 2]
    ring = device["ring"]
    assert (ring["source"], ring["capacity"], ring["used"]) == ("simulated", 70_656, 40_000)
    assert (ring["evictions"], ring["reloads"], ring["headroom"]) == (2, 1, 30_656)
    programs = command.document("status", "--programs")["programs"]
    assert [p["name"] for p in programs] == ["op2", "op1", "op3"], "the one launched last comes first"
    one, two, three = sorted(programs, key=lambda p: p["id"])
    assert [p["dispatches"] for p in (one, two, three)] == [2, 3, 0]
    assert [p["cache_hits"] for p in (one, two, three)] == [0, 2, 0]
    assert one["reloads"] == 1
    assert two["first_dispatch_ns"] < two["last_dispatch_ns"]
    seconds = (two["last_dispatch_ns"] - two["first_dispatch_ns"]) / 1e9
    assert two["dispatches_per_second"] * seconds == pytest.approx(2, abs=0.0005)
    assert three["first_dispatch_ns"] is None
    assert three["footprint"] == 0


def test_a_trace_is_the_peak_of_its_members(host):
    host.tell_of_three_programs()
    host.tell("launch 1", "launch 2", "launch 3")
    assert resident() == 450_560
    host.tell("trace 7 1 2 3")
    assert resident() == 450_560
    host.tell("replay 7")
    assert resident() == 3_604_480
    assert "CB 0 of op2 in trace 7" in command.text("status", "--core", "0,0")
    host.tell("launch 1")
    assert resident() == 450_560
    host.tell("replay 7", "release 2")  # the trace still needs it
    assert resident() == 3_604_480
    host.tell("end 7")
    assert resident() == 450_560
    assert the_device()["program_l1"]["peak"] == 3_604_480


def test_cores_add_up_to_the_byte_and_to_the_device(host):
    host.tell_of_three_programs()
    host.tell("launch 2", f"buffer 50 {L1} 1500000 40064", f"buffer 51 {L1_SMALL} 1572800 64")
    device = the_device()
    cores = command.document("status", "--cores")["devices"][0]["cores"]
    assert len(cores) == WORKERS + 1
    for core in cores:
        assert sum(core[part] for part in PARTS) == L1_BYTES, core
    for part, figure in (
        ("program_l1", device["program_l1"]["resident"]),
        ("reserved", device["program_l1"]["reserved"]),
        ("buffers", device["l1"]["taken"]),
        ("buffers_occupied", device["l1"]["occupied"]),
        ("l1_small_taken", device["l1_small"]["taken"]),
        ("kernel_footprint", device["kernels"]["total"]["footprint"]),
    ):
        assert sum(core[part] for core in cores) == figure, part


def test_a_clash_names_both_sides(host):
    host.tell_of_three_programs()
    host.tell("launch 1", f"buffer 60 {L1} 112000 40000")
    headroom = 112_000 - PROGRAM_BASE - 4_096
    assert the_device()["headroom"] == {
        "min": headroom,
        "min_reserved": 112_000 - PROGRAM_BASE - 32_768,
        "core": {"type": "tensix", "x": 0, "y": 0},
    }
    assert resident() == WORKERS * (112_000 - PROGRAM_BASE)
    assert "Clash       -3.6 KiB at core 0,0" in command.text("status")
    process = command.process_of(host.process.pid)
    who = {"program": "op1", "buffer": "tensor60", "process": "program_host", "pid": process["pid"],
           "start": process["start"], "segment": process["segment"]}
    cores = command.document("status", "--cores")["devices"][0]["cores"]
    assert [core["clash"] for core in cores] == [who] * WORKERS + [None]
    text = f"op1 and tensor60 of program_host ({host.process.pid})"
    assert command.text("status", "--cores").count(text) == WORKERS
    assert text in command.text("status", "--device", "0", "--core", "3,4")
    host.tell(f"free 60 {L1}")
    assert "Clash" not in command.text("status") + command.text("status", "--cores")
