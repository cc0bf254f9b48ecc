# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Processes that a ttnn program starts: one that is spawned is recorded on its own, one that is forked starts
with nothing and leaves its parent's figures alone."""

import os
import sys

import oracle

PROGRAM = """
import json, multiprocessing, os, sys


def point(name, pid):
    text = json.dumps({"checkpoint": name, "pid": pid, "parent": os.getpid()}, separators=(",", ":"))
    os.write(1, (text + "\\n").encode())


def hold(rows, ready, done):
    import ttnn
    device = ttnn.open_device(device_id=0)
    kept = ttnn.empty((rows, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
    ready.set()
    done.wait()
    del kept
    ttnn.close_device(device)


if __name__ == "__main__":
    import ttnn
    device = ttnn.open_device(device_id=0)
    kept = ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
    spawn = multiprocessing.get_context("spawn")
    ready, done = spawn.Event(), spawn.Event()
    child = spawn.Process(target=hold, args=(2048, ready, done))
    child.start()
    ready.wait()
    point("spawned", child.pid)
    sys.stdin.readline()
    done.set()
    child.join()
    forked = os.fork()
    if forked == 0:
        os.read(0, 1)
        os._exit(3)
    point("forked", forked)
    code = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
    ttnn.close_device(device)
    sys.exit(child.exitcode * 10 + code)
"""
#: 1024 and 2048 rows of 32 tiles, in whole pages of 2048 bytes on each of 12 banks.
PARENT, SPAWNED = 86 * 2048 * 12, 171 * 2048 * 12

failures = []


def equal(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got}, expected {expected}")


def taken(pid):
    process = oracle.process_of(pid)
    return process and sum(device["dram"]["taken"] or 0 for device in process["devices"])


def main():
    python = oracle.setup("python", "10")
    path = os.path.join(os.getcwd(), "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    client = oracle.Client([python, path], oracle.environment("n150", None), os.getcwd())
    names = []
    for point in client.checkpoints():
        names.append(point["checkpoint"])
        equal(f"{names[-1]}: the parent", taken(point["parent"]), PARENT)
        expected = SPAWNED if names[-1] == "spawned" else None
        equal(f"{names[-1]}: the child", taken(point["pid"]), expected)
    equal("checkpoints", names, ["spawned", "forked"])
    equal("exit code", client.end(), 3)
    print("a spawned and a forked child compared")
    for failure in failures:
        print("FAILED:", failure)
    return bool(failures)


sys.exit(main())
