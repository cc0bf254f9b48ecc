# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The worked example, recorded by the demonstration and read from outside, number by number."""

from support import command

FABRIC, DISPATCH, APPLICATION = 57_344 * 16, 47_104 * 2, 102_400 * 80
CIRCULAR_BUFFERS = (12_288 + 12_288 + 3_072) * 80
DRAM_BLOCK, L1_BLOCK = 1_067 * 2_048, 7 * 2_048

# What one process holds on each device.
EXPECTED = {
    ("kernels", "fabric", "footprint"): FABRIC,
    ("kernels", "dispatch", "footprint"): DISPATCH,
    ("kernels", "system", "footprint"): 1_011_712,
    ("kernels", "application", "footprint"): APPLICATION,
    ("kernels", "total", "footprint"): FABRIC + DISPATCH + APPLICATION,
    ("kernels", "total", "count"): 3,
    ("kernels", "dispatches"): 2,
    ("kernels", "first_loads"): 1,
    ("kernels", "cache_hits"): 1,
    ("kernels", "reloads"): 0,
    ("dram", "requested"): 26_214_400,
    ("dram", "taken"): DRAM_BLOCK * 12,
    ("dram", "count"): 1,
    ("l1", "requested"): 1_048_576,
    ("l1", "taken"): L1_BLOCK * 80,
    ("l1", "count"): 1,
    ("program_l1", "resident"): CIRCULAR_BUFFERS,
    ("program_l1", "reserved"): CIRCULAR_BUFFERS,
    ("program_l1", "allocated"): CIRCULAR_BUFFERS,
    ("program_l1", "count"): 1,
    ("l1_total", "used"): L1_BLOCK * 80 + CIRCULAR_BUFFERS,
}
# Figures of a device that are not sums over its processes.
SHARED = {
    ("dram", "capacity"): 12 * 1_072_693_184,
    ("l1_total", "capacity"): 80 * 1_393_472,
    ("ring", "capacity"): 70_656,
    ("ring", "used"): 2 * 14_336,
}


def figure(device, path):
    for name in path:
        device = device[name]
    return device


def expect_figures(device, processes):
    for path, expected in EXPECTED.items():
        assert figure(device, path) == expected * processes, path
    for path, expected in SHARED.items():
        assert figure(device, path) == expected, path


def test_one_process_on_one_device():
    with command.workload() as workload:
        snapshot = command.document("status")
        assert len(snapshot["devices"]) == 1
        device = snapshot["devices"][0]
        expect_figures(device, 1)
        assert (device["arch"], device["grid"]) == ("wormhole_b0", {"x": 8, "y": 10})
        cores = [device[name] for name in ("tensix_cores", "eth_cores", "dispatch_cores")]
        assert cores == [80, 16, 2]
        # Between the end of the circular buffers and the L1 buffer.
        headroom = 1_499_136 - L1_BLOCK - (105_664 + 27_648)
        assert device["headroom"]["min"] == headroom
        process = snapshot["processes"][0]
        assert (process["pid"], process["alive"]) == (workload.pids[0], True)


def test_two_processes_with_equal_ids_on_two_devices():
    with command.workload("--processes", "2", "--devices", "2"):
        snapshot = command.document("status")
        assert [device["id"] for device in snapshot["devices"]] == [0, 1]
        for device in snapshot["devices"]:
            expect_figures(device, 2)
            assert device["processes"] == 2
        for process in snapshot["processes"]:
            assert len(process["devices"]) == 2
            for device in process["devices"]:
                expect_figures(device, 1)
        assert command.document("status", "--device", "1")["devices"] == snapshot["devices"][1:]


def test_one_process_of_several():
    with command.workload("--processes", "2") as workload:
        snapshot = command.document("status", "--pid", str(workload.pids[1]))
        assert [p["pid"] for p in snapshot["processes"]] == [workload.pids[1]]
        expect_figures(snapshot["devices"][0], 1)


def test_every_holding_is_listed_and_adds_up():
    with command.workload("--processes", "2"):
        holdings = command.document("dump")["holdings"]
        kinds = [holding["kind"] for holding in holdings]
        assert {kind: kinds.count(kind) for kind in set(kinds)} == {
            "buffer": 4,
            "program": 6,
            "kernel": 6,
            "range": 6,
        }
        footprint = sum(h["footprint"] for h in holdings if h["kind"] == "kernel")
        assert footprint == 2 * (FABRIC + DISPATCH + APPLICATION)
        taken = sum(h["taken"] for h in holdings if h["kind"] == "buffer")
        assert taken == 2 * (DRAM_BLOCK * 12 + L1_BLOCK * 80)
        sizes = [
            h["taken"]
            for h in command.document("dump", "--kind", "buffer", "--sort", "size")["holdings"]
        ]
        assert sizes == sorted(sizes, reverse=True)


def test_programs():
    with command.workload():
        programs = {p["name"]: p for p in command.document("status", "--programs")["programs"]}
        assert set(programs) == {"fabric_router", "cq_dispatch", "matmul"}
        assert programs["matmul"]["dispatches"] == 2
        assert programs["matmul"]["l1_largest_core"] == 27_648
        assert programs["matmul"]["config_bytes"]["tensix"] == 14_336
        assert "matmul" in command.text("status", "--programs")


def test_every_core_adds_up_to_its_l1():
    with command.workload("--processes", "2"):
        cores = command.document("status", "--cores")["devices"][0]["cores"]
        assert len(cores) == 80 + 16 + 2
        for core in cores:
            parts = sum(
                core[part]
                for part in ("fixed", "ring", "program_l1", "gaps", "free", "buffers", "l1_small")
            )
            assert parts == core["l1_bytes"], core
        assert "1,499,136" in command.text("status", "--cores")


def test_the_map_of_a_core_has_no_holes():
    with command.workload():
        core = command.document("status", "--core", "7,9")["devices"][0]["cores"][0]
        ends = [0] + [stretch["end"] for stretch in core["map"]]
        assert [stretch["begin"] for stretch in core["map"]] == ends[:-1]
        assert ends[-1] == 1_499_136
        text = command.text("status", "--device", "0", "--core", "7,9")
        assert text.index("program_l1") < text.index("buffer")


def test_legacy_layouts():
    with command.workload():
        text = command.text("status", "--format", "legacy")
        for line in (
            "Device 0 (Wormhole_B0):",
            "    Buffers:        1.0MB",
            "      - Fabric:     896 KB  (1 kernels)",
            "      - Dispatch:   92 KB   (1 kernels)",
            "      - Application: 7.8 MB (1 kernels)",
            "  L1 (Allocator):  1.0MB",
            "  L1 (Kernels):    8.8MB",
            "  L1 Total:        11.9MB",
        ):
            assert line + "\n" in text
