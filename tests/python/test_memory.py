# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What a process is told about itself: figures, peaks, regions, snapshots."""

import json
import sys

from conftest import output_of, tracking_environment
from support import built

MIB = 1024 * 1024


def test_the_process_knows_what_it_holds(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        chip = Chip(metal_id=3)
        chip.allocate(1, 4096)
        chip.allocate(2, 8192)
        chip.free(1)
        chip.allocate(3, 32, space=1)
        class MeshOfTtnn:
            def get_device_ids(self): return [3, 5]
        class DeviceOfTtnn:
            def id(self): return 3
        print(ttmem.memory_allocated(3), ttmem.max_memory_allocated(3),
              ttmem.memory_allocated(3, kind="l1"), ttmem.memory_allocated(5),
              ttmem.memory_allocated(MeshOfTtnn()), ttmem.memory_allocated(DeviceOfTtnn(), "l1"))
        device, = ttmem.devices()
        print(device.metal_id, hex(device.unique_id), device.mock, device.is_open)
    """
    assert in_process(code).splitlines() == [
        f"{12 * 8192} {12 * 12288} {64 * 32} 0 {12 * 8192} {64 * 32}",
        "3 0x103 True True",
    ]


def test_reset_peak_starts_anew_and_leaves_the_true_peak(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        chip = Chip()
        chip.allocate(1, 100 * 32)
        chip.free(1)
        chip.allocate(2, 10 * 32)
        ttmem.reset_peak()
        print(ttmem.peak()[0].dram, ttmem.max_memory_allocated())
        chip.allocate(3, 10 * 32)
        chip.free(3)
        print(ttmem.peak()[0].dram)
        for _ in range(50):
            ttmem.reset_peak_memory_stats()
        print(ttmem.peak()[0].dram, ttmem.snapshot()["devices"][0]["dram"]["peak"])
    """
    assert in_process(code).splitlines() == [
        f"{12 * 320} {12 * 320}",
        f"{12 * 640}",
        f"{12 * 320} {12 * 3200}",
    ]


def test_a_region_tells_what_it_added_its_peak_and_its_rest(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        chip = Chip()
        chip.allocate(1, 1024)
        with ttmem.region("attention") as r:
            chip.allocate(2, 2048)
            assert r.added[0].dram == 12 * 2048 and r.left[0].dram == 12 * 2048
            chip.allocate(3, 4096)
            chip.free(3)
            late = Chip(metal_id=1)
            late.allocate(1, 32, space=1)
        chip.allocate(4, 1 << 20)  # afterwards: not the region's
        print(r.before[0].dram, r.peak[0].dram, r.added[0].dram, r.left[0].dram)
        print(r.peak[1].l1, r.added[1].l1, r.left[1].l1)
        print(r)
    """
    lines = in_process(code).splitlines()
    assert lines[0] == f"{12 * 1024} {12 * 7168} {12 * 6144} {12 * 2048}"
    assert lines[1] == f"{64 * 32} {64 * 32} {64 * 32}"
    assert lines[2].split() == ["attention", "kind", "added", "peak", "left"]
    assert lines[3].split() == "device 0 DRAM 72.0 KiB 84.0 KiB 24.0 KiB".split()
    assert lines[4].split() == "device 1 L1 2.0 KiB 2.0 KiB 2.0 KiB".split()


def test_a_region_that_frees_more_than_it_makes_leaves_less_than_nothing(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        chip = Chip()
        chip.allocate(1, 1024)
        try:
            with ttmem.region("cleanup") as r:
                chip.free(1)
                raise KeyError("passes through")
        except KeyError:
            print(r.left[0].dram, r.added[0].dram)
    """
    assert in_process(code) == f"{-12 * 1024} 0\n"


def test_regions_nest_and_name_what_is_made_in_them(in_process):
    code = """
        import json, ttmem
        from ttmem import command
        from fake_chip import Chip
        chip = Chip()
        with ttmem.region("layer"):
            chip.allocate(1, 32)
            with ttmem.region("attention"):
                chip.allocate(2, 32)
            chip.allocate(3, 32)
        chip.allocate(4, 32)
        print(json.dumps(command.document("dump")))
    """
    held = {one["id"]: one for one in json.loads(in_process(code))["holdings"]}
    names = [held[f"0x{number}"]["operation"] for number in (1, 2, 3, 4)]
    assert names == ["layer", "attention", "layer", None]


def test_beyond_sixteen_regions_only_name(in_process):
    code = """
        import contextlib, json, ttmem
        from ttmem import command
        from fake_chip import Chip
        chip = Chip()
        with contextlib.ExitStack() as stack:
            regions = [stack.enter_context(ttmem.region(str(number))) for number in range(17)]
            chip.allocate(1, 32)
            print(regions[15].added[0].dram)
            try:
                print(regions[16].added)
            except RuntimeError as reason:
                print(reason)
        with ttmem.region("again") as again:
            print(again.added[0].dram)
        print(json.dumps(command.document("dump")))
    """
    lines = in_process(code).splitlines()
    assert lines[:3] == [
        f"{12 * 32}",
        "ttmem: region '16' has no figures: 16 regions around it measured already",
        "0",
    ]
    assert [one["operation"] for one in json.loads(lines[3])["holdings"]] == ["16"]


def test_a_decorated_function_is_a_region_at_each_call(in_process):
    code = """
        import json, ttmem
        from ttmem import command
        from fake_chip import Chip
        chip = Chip()
        @ttmem.region("layer")
        def layer(number):
            chip.allocate(number, 32)
            return number if number > 3 else layer(number + 1)
        print(layer(1), layer.__name__)
        chip.allocate(9, 32)
        print(json.dumps(command.document("dump")))
    """
    lines = in_process(code).splitlines()
    assert lines[0] == "4 layer"
    names = [one["operation"] for one in json.loads(lines[1])["holdings"]]
    assert names == ["layer"] * 4 + [None]


def test_a_region_that_is_entered_inside_of_itself_ends_with_its_block(in_process):
    code = """
        import json, ttmem
        from ttmem import command
        from fake_chip import Chip
        chip = Chip()
        layer = ttmem.region("layer")
        with layer:
            chip.allocate(1, 32)
            with layer:
                chip.allocate(2, 32)
            chip.allocate(3, 32)
            print(layer.added[0].dram)
        chip.allocate(4, 32)
        print(layer.added[0].dram)
        with layer:
            print(layer.added)
        print(json.dumps(command.document("dump")))
    """
    lines = in_process(code).splitlines()
    assert lines[:2] == [f"{12 * 96}"] * 2
    assert "dram=0," in lines[2], "inside of the block they are those of the moment"
    assert [one["region"] for one in json.loads(lines[3])["holdings"]] == [
        "layer", "layer > layer", "layer", None]


def test_what_waits_in_a_decorated_function_names_nothing_meanwhile(in_process):
    code = """
        import asyncio, json, ttmem
        from ttmem import command
        from fake_chip import Chip
        chip = Chip()
        @ttmem.region("generator")
        def generator():
            chip.allocate(1, 32)
            try:
                told = yield "first"
            except KeyError:
                told = "thrown"
            chip.allocate(2, 32)
            yield told
            return "ended"
        running = generator()
        print(next(running))
        chip.allocate(3, 32)
        print(running.throw(KeyError()))
        print(next(running, "stopped"))
        @ttmem.region("closed")
        def closed():
            try:
                yield
            finally:
                chip.allocate(4, 32)
        running = closed()
        next(running)
        running.close()
        @ttmem.region("task")
        async def task(number):
            chip.allocate(number, 32)
            await asyncio.sleep(0)
            chip.allocate(number + 1, 32)
            return number
        async def other():
            await asyncio.sleep(0)
            chip.allocate(9, 32)
        async def all_of_them():
            return await asyncio.gather(task(5), other(), task(7))
        print(asyncio.run(all_of_them()), asyncio.iscoroutinefunction(task))
        print(json.dumps(command.document("dump")))
    """
    lines = in_process(code).splitlines()
    assert lines[:4] == ["first", "thrown", "stopped", "[5, None, 7] True"]
    held = {int(one["id"], 16): one["region"] for one in json.loads(lines[4])["holdings"]}
    assert held == {1: "generator", 2: "generator", 3: None, 4: "closed", 5: "task", 6: "task",
                    7: "task", 8: "task", 9: None}


def test_any_name_can_be_that_of_a_region(in_process):
    code = """
        import json, ttmem
        from ttmem import command
        from fake_chip import Chip
        chip = Chip()
        for number, name in enumerate((7, "", "lone \\udc80", "a > b")):
            with ttmem.region(name):
                chip.allocate(number, 32)
        print(json.dumps(command.document("dump")))
    """
    held = json.loads(in_process(code))["holdings"]
    assert [one["region"] for one in held] == ["7", "(no name)", "lone ?", "a > b"]


def test_the_figures_of_a_region_are_those_of_all_devices(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        chips = [Chip(number) for number in range(5)]
        with ttmem.region("layer") as r:
            for number, chip in enumerate(chips):
                chip.allocate(1, 32 * number)
            late = Chip(5)
            late.allocate(1, 1024)
        print([r.added[number].dram // 12 for number in range(6)])
    """
    assert in_process(code) == "[0, 32, 64, 96, 128, 1024]\n"


def test_a_region_measures_without_the_interpreters_own_functions(in_process):
    code = """
        import ctypes
        del ctypes.pythonapi  # as in a Python that is not CPython
        import ttmem
        from fake_chip import Chip
        chips = [Chip(metal_id=number) for number in range(3)]
        for _ in range(2):
            with ttmem.region("layer") as r:
                chips[2].allocate(1, 4096)
                chips[2].free(1)
            print(r.added[2].dram, r.left[2].dram, r.added[1].dram)
    """
    assert in_process(code) == f"{12 * 4096} 0 0\n" * 2


def test_a_process_that_nobody_tracks_is_told_what_to_do(in_process):
    code = """
        import ttmem
        with ttmem.region("x") as region:
            pass  # models keep their regions, whoever runs them
        for question in (ttmem.memory_allocated, ttmem.peak, ttmem.memory_summary,
                         lambda: region.added):
            try:
                question()
                print("answered")
            except ttmem.NotTracked as reason:
                print(reason)
    """
    assert set(in_process(code).splitlines()) == {
        "ttmem: nothing records this process: call ttmem.track(), or start it with `ttmem run`"
    }


def test_a_wrong_kind_is_refused(in_process):
    code = """
        import ttmem
        try:
            ttmem.memory_allocated(0, "vram")
        except ValueError as reason:
            print(reason)
    """
    expected = "unknown kind 'vram'; the kinds are: dram, l1, l1_small, trace, program_l1, kernels\n"
    assert in_process(code) == expected


def test_a_snapshot_has_every_process(in_process):
    code = """
        import json, os, ttmem
        from fake_chip import Chip
        Chip().allocate(1, 4096)
        child = os.fork()
        if child == 0:
            Chip().allocate(1, 1024)
            print(json.dumps(ttmem.snapshot()), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    """
    snapshot = json.loads(in_process(code))
    assert snapshot["document"] == "snapshot"
    # Others on this machine have no segment in the test's directory.
    assert len([one for one in snapshot["processes"] if one["alive"] and one["segment"]]) == 2
    assert 12 * (4096 + 1024) in [one["dram"]["taken"] for one in snapshot["devices"]]


def test_regions_survive_a_fork(in_process):
    code = """
        import os, sys, ttmem
        from fake_chip import Chip
        chip = Chip()
        with ttmem.region("parent") as r:
            child = os.fork()
            if child == 0:
                Chip().allocate(1, 32)
            else:
                os.waitpid(child, 0)
                chip.allocate(1, 64)
        if child == 0:
            sys.stdout.flush()
            os._exit(0)
        print(r.left[0].dram)
    """
    assert in_process(code) == f"{12 * 64}\n"


def test_the_summary_is_a_table(in_process):
    code = """
        import ttmem
        from fake_chip import Chip
        Chip().allocate(1, 1 << 20)
        print(ttmem.memory_summary())
    """
    lines = in_process(code).splitlines()
    assert lines[0].split() == ["ttmem", "kind", "now", "peak"]
    assert lines[1].split() == "device 0 DRAM 12.0 MiB 12.0 MiB".split()
    assert len(lines) == 7


def test_importing_starts_nothing(in_process):
    code = """
        import ttmem
        print("libttmem" in open("/proc/self/maps").read())
    """
    assert in_process(code) == "False\n"


def test_disabled_means_disabled(in_process):
    code = """
        import ttmem
        from ttmem import library
        print(ttmem.track(), library.load().ttmem_segment_path())
    """
    assert in_process(code, TTMEM_DISABLE="1") == "Tracking(how='disabled', slots=0) b''\n"


def test_under_run_a_process_measures_before_it_loads_the_runtime(tmp_path):
    script = "import ttmem; print(ttmem.track().how); print(bool(ttmem.library.load().ttmem_segment_path()))"
    command = [built.TTMEM, "run", "--", sys.executable, "-c", script]
    assert output_of(command, tmp_path, tracking_environment(tmp_path)).split() == ["preloaded", "True"]
