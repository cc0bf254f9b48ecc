# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""An operation counts by itself that L1 is too full for it, and refuses in words of its own."""

import ttnn

import gallery

VERDICT = "other"


def run(device, cure=None):
    x = ttnn.empty((1024, 8192), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, gallery.DRAM)
    weight = ttnn.empty((32, 8192), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, gallery.DRAM)
    held = [gallery.tensor(device, 38) for _ in range(2)]
    return held, ttnn.layer_norm(x, weight=weight)


if __name__ == "__main__":
    run(gallery.open_device({}))
