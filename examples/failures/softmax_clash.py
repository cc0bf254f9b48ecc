# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A clash: an activation was left low in L1 when the one above it was freed, and softmax needs that place."""

import ttnn

import gallery

VERDICT = "clash"


def run(device, cure=None):
    x = ttnn.ones((1024, 4096), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    held = [gallery.tensor(device, 50), gallery.tensor(device, 20)]
    held[0] = None
    gallery.treat(held, cure)
    return held, ttnn.softmax(x)


if __name__ == "__main__":
    gallery.main(run)
