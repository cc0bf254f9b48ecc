# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Processes that a ttnn program starts: one that is spawned is recorded on its own, one that is forked starts
with nothing and leaves its parent's figures alone."""

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


def taken(pid):
    process = oracle.process_of(pid)
    return process and sum(device["dram"]["taken"] or 0 for device in process["devices"])


def test_a_spawned_and_a_forked_child():
    python = oracle.setup("python", "10")
    with open("program.py", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    client = oracle.Client([python, "program.py"], oracle.environment("n150"))
    names = []
    for point in client.checkpoints():
        names.append(point["checkpoint"])
        assert taken(point["parent"]) == PARENT, names[-1]
        assert taken(point["pid"]) == (SPAWNED if names[-1] == "spawned" else None), names[-1]
    assert names == ["spawned", "forked"]
    assert client.end() == 3
