# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Chips that are opened, used and closed one after the other: each time only the open one has a ring, and
what was launched there is in it, although the runtime makes its queues at the same place in memory."""

import oracle

PROGRAM = """
import json, os, sys, ttnn
for chip in (0, 1, 0, 1):
    device = ttnn.open_device(device_id=chip)
    a = ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
    for _ in range(1 + chip):
        b = ttnn.add(a, a)
    text = json.dumps({"checkpoint": "used", "pid": os.getpid(), "chip": chip}, separators=(",", ":"))
    print(text, flush=True)
    sys.stdin.readline()
    del a, b
    ttnn.close_device(device)
"""


def ring_of(device):
    """Bytes in the ring of the workers; None where there is no ring."""
    return next((r["used"] for r in device["rings"] if r["core_type"] == "tensix"), None)


def test_only_the_open_chip_has_a_ring():
    python = oracle.setup("python", "10")
    slice_bytes = None
    steps = 0
    with oracle.running([python, "-c", PROGRAM], oracle.environment("n300")) as client:
        for point in client.checkpoints():
            steps += 1
            process = oracle.process_of(point["pid"])
            rings = {d["metal_id"]: ring_of(d) for d in process["devices"]}
            slice_bytes = slice_bytes or rings[0]
            assert slice_bytes
            for chip, used in rings.items():
                expected = (1 + chip) * slice_bytes if chip == point["chip"] else None
                assert used == expected, f"step {steps}: the ring of chip {chip}"
            assert process["tracking"]["anomalies"] == {}, f"step {steps}"
    assert steps == 4
