# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""One event has one meaning, whichever way it came: the same calls through `ttmem serve`, through
allocation_server_poc and through the relinked client give the same figures at every step."""

import contextlib
import os
import re
import subprocess

from daemon import Daemon
from legacy_client import DISPATCH, DRAM, FABRIC, L1, L1_SMALL, TRACE, Process
from relinked_client import Relinked
from support import built, command
from support.waiting import eventually

MIB = 1024 * 1024

STEPS = [
    # before anything else is told: what cannot be, and the end of what nobody knows
    ("alloc", 0, 4096, 5, 9), ("free", 0, 0x1887000), ("unload", 0, 0, 0xC1), ("cb_free", 0, 0, 64),
    # buffers
    ("alloc", 0, 25 * MIB, DRAM, 5), ("alloc", 0, MIB, L1, 1), ("alloc", 1, MIB, L1, 1),
    ("alloc", 0, MIB, DRAM, 1),              # the same address in another memory
    ("alloc", 0, 64, L1_SMALL, 3), ("alloc", 0, 128, TRACE, 4),
    ("alloc", 0, MIB, L1, 1),                # once more: a reference
    ("alloc", 0, 2 * MIB, DRAM, 5),          # once more, with another size
    ("free", 0, 1), ("free", 0, 1), ("free", 0, 1), ("free", 0, 1),
    ("free", 0, 0x1887000),                  # never there
    # values that cannot be
    ("alloc", 0, 0, DRAM, 9), ("alloc", 0, 107374182401, DRAM, 9), ("alloc", 0, 4096, 5, 9),
    ("alloc", -2, 4096, DRAM, 9), ("alloc", -5, 4096, DRAM, 9), ("alloc", 1 << 20, 4096, DRAM, 9),
    # circular buffers
    ("cb_alloc", 0, 262144, 101152), ("cb_alloc", 0, 131072, 101152), ("cb_alloc", 1, 4096, 64),
    ("cb_free", 0, 131072, 101152), ("cb_free", 0, 0, 101152), ("cb_free", 0, 57344, 101152),
    # kernels
    ("load", 0, 57344, 0xC1, FABRIC), ("load", 1, 57344, 0xC1, FABRIC),
    ("load", 0, 57344, 0xC1, FABRIC), ("load", 0, 57344, 0xC1, FABRIC),
    ("load", 2, 47104, 0xC1, DISPATCH),      # other code under the same id, on another device
    ("load", 17, 131072, 0xC2), ("load", 254, 1, 0xC3),
    ("load", 0, 1024, 0xC1, FABRIC),         # other code under a live id
    ("unload", 1, 0, 0xC1), ("unload", 0, 57344, 0xC1), ("unload", 2, 0, 0xC1),
    ("unload", 0, 57344, 0xC1),              # once too often
    ("load", 0, 5000, 0xC4, 7),              # a type that nobody knows
    ("load", 0, 5000, 0xC4, 7), ("load", 0, 5000, 0xC4), ("unload", 0, 0, 0xC4),
    ("load", 0, 0, 0xC5), ("unload", 0, 0, 0xC5), ("load", 0, 1 << 32, 0xC6), ("load", 300, 4096, 0xC7),
    ("load", 0, 4096, (1 << 64) - 1), ("unload", 0, 0, (1 << 64) - 1),
    ("cb_alloc", 0, 0, 65), ("cb_free", 0, 0, 65), ("cb_alloc", 0, 107374182401, 65),
    ("free", 300, 5), ("cb_free", -7, 0, 5), ("unload", 1 << 20, 0, 0xC1),  # never there
]


def figures_of(pid, snapshot):
    """All that readers say of a process, but for what only one way can know."""
    found = [each for each in snapshot["processes"] if each["pid"] == pid]
    if not found:
        return {}
    [process] = found
    devices = {}
    for device in process["devices"]:
        kept = {name: value for name, value in device.items()
                if name in ("dram", "l1", "l1_small", "trace", "program_l1", "kernels", "basis")}
        devices[device["metal_id"]] = kept
    return {"devices": devices, "anomalies": process["tracking"]["anomalies"]}


def programs_of(pid, programs):
    """Kernels with the ids that they were given, and how often they were launched."""
    programs = [each for each in programs if each["pid"] == pid and each["kernels"] > 0]
    return sorted((each["id"], each["type"], each["footprint"], each["dispatches"], each["cores"])
                  for each in programs if int(each["id"], 16) < 1 << 61)


@contextlib.contextmanager
def poc(folder):
    path = os.path.join(folder, "poc.sock")
    name = os.path.join(folder, "allocation_server_poc")
    os.symlink(built.TTMEM, name)
    with open(os.path.join(folder, "poc.log"), "w", encoding="utf-8") as log:
        server = subprocess.Popen([name], stdout=log, stderr=log,
                                  env={**os.environ, "TT_ALLOC_SERVER_SOCKET": path})
    try:
        eventually(lambda: os.path.exists(path))
        yield path
    finally:
        server.terminate()
        server.wait(60)


def test_three_ways_one_meaning(folder):
    daemon = Daemon(folder, legacy=os.path.join(folder, "serve.sock"))
    try:
        with poc(folder) as path:
            ways = {"serve": Process(os.path.join(folder, "serve.sock")),
                    "poc": Process(path), "relinked": Relinked()}
            for way in ways.values():
                way.query(0)  # tells its form
            for number, (call, *arguments) in enumerate(STEPS):
                for way in ways.values():
                    getattr(way, call)(*arguments)
                    way.query(0)
                snapshot = command.document("status")
                figures = {name: figures_of(way.pid, snapshot) for name, way in ways.items()}
                step = f"step {number}: {call} {arguments}"
                assert figures["serve"] == figures["poc"], step
                assert figures["serve"] == figures["relinked"], step
                loaded = command.document("status", "--programs")["programs"]
                programs = {name: programs_of(way.pid, loaded) for name, way in ways.items()}
                assert programs["serve"] == programs["poc"] == programs["relinked"], step
            for way in ways.values():
                way.cb_alloc(0, 262144, 101152)
                way.load(0, 57344, 0xC1, FABRIC)
                way.load(2, 47104, 0xC1, DISPATCH)
                way.query(0)
                check_ids(str(way.pid))
            for way in ways.values():
                way.end()
    finally:
        daemon.stop()


def check_ids(pid):
    """People see the ids that were told, and none that was made up."""
    dumped = command.text("dump", "--pid", pid)
    for text in (dumped, command.text("status", "--programs", "--pid", pid),
                 command.text("events", "--pid", pid)):
        assert "0xc1" in text
        made_up = [word for word in re.findall(r"0x[0-9a-f]+", text) if int(word, 16) >= 1 << 48]
        assert not made_up, text
    lines = command.text("events", "--pid", pid, "--format", "legacy", "--detail")
    loads = re.findall(r"Device (\d+), Type: (\w+), .*ID: (\S+)\)", lines)
    assert loads[-2:] == [("0", "Fabric", "0xc1"), ("2", "Dispatch", "0xc1")], lines
    kernels = command.document("dump", "--kind", "kernel", "--pid", pid)["holdings"]
    assert {each["type"]: each["core_type"] for each in kernels
            if each["devices"][0] in (0, 2)} == {"fabric": "active_eth", "dispatch": "dispatch"}
    programs = command.document("status", "--programs", "--pid", pid)["programs"]
    sizes = [set(each["config_bytes"].values()) for each in programs if each["kernels"] > 0]
    assert sizes and all(each == {None} for each in sizes), "nobody told what they take in a ring"
