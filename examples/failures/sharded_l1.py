# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Too large for a bank: 32 MiB on four cores are 8 MiB per core."""

import ttnn

import gallery
from gallery import DRAM, L1

VERDICT = "too_large"


def run(device, cure=None):
    kind = cure and cure["kind"]
    memory = {"interleave": L1, "request_in_dram": DRAM}.get(kind)
    if memory is None:
        parts = cure["value"] if kind == "shard" else 1
        rows = 4 * parts // 8 or 1
        memory = gallery.sharded((4 * parts // rows - 1, rows - 1), (1024 // parts, 4096))
    return ttnn.empty((4096, 4096), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory)


if __name__ == "__main__":
    gallery.main(run)
