# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the scripts of this folder share: opening the device, and the words on their command line.

    ttmem run python examples/failures/scattered_l1.py              fails; then: ttmem explain
    python examples/failures/scattered_l1.py reallocate 188416      the same with that cure taken

The word is the `kind` of a cure in `ttmem explain --json`, the numbers its `addresses` or its `value`.
"""

import sys

import ttnn

DRAM = ttnn.DRAM_MEMORY_CONFIG
L1 = ttnn.L1_MEMORY_CONFIG
SETTINGS = ("l1_small_size", "worker_l1_size", "trace_region_size")


def tensor(device, mebibytes, memory=L1, dtype=ttnn.bfloat16):
    """A tensor in tiles that has so many MiB as bfloat16."""
    return ttnn.empty((mebibytes * 512, 1024), dtype, ttnn.TILE_LAYOUT, device, memory)


def sharded(cores, shard, buffer=ttnn.BufferType.L1, layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED):
    """Shards of this shape on cores (0,0) to `cores`."""
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(*cores))})
    return ttnn.MemoryConfig(layout, buffer, ttnn.ShardSpec(grid, shard, ttnn.ShardOrientation.ROW_MAJOR))


def data_type(cure):
    """The type to ask for: bfloat16, or the block format of a cure."""
    if not cure or cure["kind"] != "data_type":
        return ttnn.bfloat16
    return {8: ttnn.bfloat8_b, 4: ttnn.bfloat4_b}[cure["value"]]


def treat(held, cure):
    """Does to the tensors at the cure's addresses what the cure says."""
    kind = cure["kind"] if cure else None
    for number, each in enumerate(held):
        if kind is None or each is None or each.buffer_address() not in cure["addresses"]:
            continue
        if kind == "deallocate":
            ttnn.deallocate(each)
            held[number] = None
        elif kind == "move_to_dram":
            held[number] = ttnn.to_memory_config(each, DRAM)
            ttnn.deallocate(each)
        elif kind == "reallocate":
            held[number] = None
            held[number] = ttnn.reallocate(each)


def open_device(settings, cure=None):
    """A device with the settings of a script, and that of a cure."""
    settings = dict(settings)
    if cure and cure["kind"] in SETTINGS:
        settings[cure["kind"]] = cure["value"]
    return ttnn.open_device(device_id=0, **settings)


def main(run, settings=None):
    """Opens a device and calls run(device, cure)."""
    cure = None
    if len(sys.argv) > 1:
        numbers = [int(word) for word in sys.argv[2:]]
        cure = {"kind": sys.argv[1], "value": numbers[0] if numbers else None, "addresses": numbers}
    device = open_device(settings or {}, cure)
    try:
        run(device, cure)
    finally:
        ttnn.close_device(device)
