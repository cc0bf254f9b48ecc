# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""L1 is full where each core has a list of addresses of its own: there one bank does not stand for all."""

import os

os.environ["TT_METAL_ALLOCATOR_MODE_HYBRID"] = "1"  # before ttnn reads it

import ttnn  # noqa: E402

import gallery  # noqa: E402

VERDICT = "full"


def run(device, cure=None):
    memory = gallery.sharded((3, 3), (64, 1024))
    memory.experimental_set_per_core_allocation(True)
    held = [ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory), gallery.tensor(device, 70)]
    return held, gallery.tensor(device, 20)


if __name__ == "__main__":
    gallery.main(run)
