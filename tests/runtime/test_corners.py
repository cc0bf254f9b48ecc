# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Corners of real ttnn: devices that are opened again, children that go on with their parent's device, the
allocator that gives addresses core by core, workers that leave at once, and libraries that pass the hooks by."""

import json
import os
import subprocess
import sys

import pytest

import oracle
from support import built
from support.waiting import eventually

START = """
import json, os, sys, ttnn

def point(name, **more):
    view = lambda space: ttnn.get_memory_view(device, space)
    kinds = {"dram": ttnn.BufferType.DRAM, "l1": ttnn.BufferType.L1, "l1_small": ttnn.BufferType.L1_SMALL,
             "trace": ttnn.BufferType.TRACE}
    spaces = {name: view(kind) for name, kind in kinds.items()}
    told = {name: {"banks": v.num_banks, "allocated": v.total_bytes_allocated_per_bank,
                   "bank_bytes": v.total_bytes_per_bank} for name, v in spaces.items()}
    text = json.dumps({"checkpoint": name, "pid": os.getpid(), **told, **more}, separators=(",", ":"))
    os.write(1, (text + "\\n").encode())
    sys.stdin.readline()

def empty(rows, config):
    return ttnn.empty((rows, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, config)
"""


def points(program, **extra):
    """Each checkpoint of a program under `ttmem run`, with its process as ttmem shows it."""
    python = oracle.setup("python", "10")
    with open("program.py", "w", encoding="utf-8") as file:
        file.write(START + program)
    child = subprocess.Popen([oracle.TTMEM, "run", python, "program.py"], env=oracle.environment("n150", **extra),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        for line in child.stdout:
            if not line.startswith('{"checkpoint"'):
                continue
            point = json.loads(line)
            yield point["checkpoint"], point, oracle.process_of(point["pid"])
            child.stdin.write("\n")
            child.stdin.flush()
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.wait()


def test_a_device_that_is_opened_again_has_the_spaces_of_now():
    program = """
device = ttnn.open_device(device_id=0, l1_small_size=32768, trace_region_size=1 << 20)
point("with")
ttnn.close_device(device)
device = ttnn.open_device(device_id=0)
kept = empty(1024, ttnn.DRAM_MEMORY_CONFIG)
point("without")
ttnn.close_device(device)
"""
    seen = []
    for name, point, process in points(program):
        chip = process["devices"][0]
        for space in oracle.SPACES:
            theirs = point[space]["banks"] * point[space]["bank_bytes"]
            assert (chip[space]["capacity"] or 0) == theirs, (name, space)
        in_l1 = sum(point[space]["banks"] * point[space]["bank_bytes"] for space in ("l1", "l1_small"))
        assert chip["l1_total"]["capacity"] == in_l1, name
        seen.append((name, chip["l1_small"]["capacity"]))
    assert seen == [("with", 64 * 32768), ("without", None)]


def test_a_child_that_goes_on_with_its_parents_device():
    program = """
device = ttnn.open_device(device_id=0)
kept = empty(1024, ttnn.DRAM_MEMORY_CONFIG)
inner = empty(64, ttnn.L1_MEMORY_CONFIG)
child = os.fork()
if child == 0:
    more = empty(512, ttnn.DRAM_MEMORY_CONFIG)
    point("child")
    del kept, inner
    point("child freed")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
point("parent")
ttnn.close_device(device)
"""
    names = []
    for name, point, process in points(program):
        names.append(name)
        chip = process["devices"][0]
        for space in ("dram", "l1"):
            assert chip[space]["taken"] == point[space]["banks"] * point[space]["allocated"], (name, space)
        assert process["sources"] == ["injector"]
        assert process["runtime_version"]
        tracking = process["tracking"]
        assert tracking["anomalies"] == {}
        assert tracking["partial"] is name.startswith("child"), "programs of before are not known"
        eventually(lambda pid=point["pid"]: oracle.process_of(pid)["tracking"]["exact"] is True)
        if name == "child":
            kept = json.loads(oracle.ttmem("dump", "--pid", str(point["pid"]), "--json"))["holdings"]
            lines = sorted((holding["line"] or "-").rpartition("/")[2] for holding in kept)
            assert lines == ["-", "-", "program.py:16 empty"], "nobody knows who made what was inherited"
    assert names == ["child", "child freed", "parent"]


def test_addresses_core_by_core():
    program = """
device = ttnn.open_device(device_id=0)
lockstep = empty(256, ttnn.L1_MEMORY_CONFIG)
grid = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))])
shards = ttnn.ShardSpec(grid, (32, 1024), ttnn.ShardOrientation.ROW_MAJOR)
config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shards)
config = config.experimental_set_per_core_allocation(True) or config
first = empty(64, config)
point("held", per_core=1)
ttnn.close_device(device)
device = ttnn.open_device(device_id=0)
again = empty(64, config)
del first
point("opened again", per_core=1)
del again
point("freed", per_core=0)
"""
    names = []
    for name, point, process in points(program, TT_METAL_ALLOCATOR_MODE_HYBRID="1"):
        names.append(name)
        chip = process["devices"][0]
        lockstep = point["l1"]["banks"] * point["l1"]["allocated"]
        assert chip["l1"]["taken"] == lockstep + point["per_core"] * 2 * 32 * 1024 * 2, name
        eventually(lambda pid=point["pid"]: oracle.process_of(pid)["tracking"]["exact"] is True)
        assert process["tracking"]["anomalies"] == {}, name
    assert names == ["held", "opened again", "freed"]


@pytest.mark.parametrize("how", ["run", "track"])
def test_a_worker_that_leaves_at_once_did_not_die(how):
    python = oracle.setup("python", "10")
    program = """
import os, sys
if sys.argv[1] == "track":
    import ttmem, ttnn
    ttmem.track()
import ttnn
device = ttnn.open_device(device_id=0)
kept = ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
os._exit(0)
"""
    values = oracle.environment("n150", PYTHONPATH=os.path.join(built.SOURCE, "python"), TTMEM_LIBRARY=built.LIBRARY)
    line = [python, "-c", program, how]
    child = subprocess.Popen([oracle.TTMEM, "run", *line] if how == "run" else line, env=values,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert child.wait(120) == 0
    process = oracle.process_of(child.pid)
    assert process["ended"] == "closed"
    assert process["devices"][0]["dram"]["taken"] == 86 * 2048 * 12, "what it held is still told"


@pytest.mark.parametrize("option", ["--lines", "--no-lines"])
def test_libraries_that_pass_the_hooks_by_are_named(option):
    python = oracle.setup("python", "10")
    program = """
import os, sys
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
import ttnn
device = ttnn.open_device(device_id=0)
kept = ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
print("ready", flush=True)
sys.stdin.readline()
"""
    child = subprocess.Popen([oracle.TTMEM, "run", option, python, "-c", program], env=oracle.environment("n150"),
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if "ready" not in (line.strip() for line in child.stdout):
            pytest.skip("this release does not run with RTLD_DEEPBIND")
        assert oracle.process_of(child.pid)["tracking"]["unreached"] is True
        assert "RTLD_DEEPBIND" in oracle.ttmem("status")
    finally:
        child.kill()
        child.wait()
        sys.stdout.flush()


@pytest.mark.parametrize("when, is_hidden", [("after track", True), ("after import", False)])
def test_it_counts_how_the_libraries_were_loaded_in_the_end(when, is_hidden):
    python = oracle.setup("python", "10")
    program = """
import os, sys, ttmem
if sys.argv[1] == "after track":
    ttmem.track()
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
    import ttnn
else:
    import ttnn
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
    ttmem.track()
device = ttnn.open_device(device_id=0)
kept = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
print("ready", flush=True)
sys.stdin.readline()
"""
    values = oracle.environment("n150", PYTHONPATH=os.path.join(built.SOURCE, "python"), TTMEM_LIBRARY=built.LIBRARY)
    child = subprocess.Popen([python, "-c", program, when], env=values, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert "ready" in (line.strip() for line in child.stdout)
        process = oracle.process_of(child.pid)
        assert process["tracking"]["unreached"] is is_hidden
        if not is_hidden:
            assert process["devices"][0]["dram"]["taken"] == 12 * 2048
            assert process["tracking"]["lines"] == "on"
    finally:
        child.kill()
        child.wait()
        sys.stdout.flush()
