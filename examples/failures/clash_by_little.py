# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A clash by 13 KiB, while the region above the buffers, L1_SMALL, is reserved and empty."""

import ttnn

import gallery

VERDICT = "clash"
SETTINGS = {"l1_small_size": 32768}


def run(device, cure=None):
    x = ttnn.ones((1024, 4096), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    held = [gallery.tensor(device, 50)]
    gallery.treat(held, cure)
    return held, ttnn.softmax(x)


if __name__ == "__main__":
    gallery.main(run, SETTINGS)
