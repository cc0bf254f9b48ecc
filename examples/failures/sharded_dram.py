# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""DRAM is full: a tensor in shards of 128 MiB, one in each of the twelve banks, beside 11 GiB of weights."""

import ttnn

import gallery
from gallery import DRAM

VERDICT = "full"
WIDTH = 2 << 20


def run(device, cure=None):
    weights = [gallery.tensor(device, 1024, DRAM) for _ in range(11)]
    gallery.treat(weights, cure)
    shards = gallery.sharded((11, 0), (32, WIDTH), ttnn.BufferType.DRAM, ttnn.TensorMemoryLayout.WIDTH_SHARDED)
    big = ttnn.empty((32, 12 * WIDTH), gallery.data_type(cure), ttnn.TILE_LAYOUT, device, shards)
    return weights, big


if __name__ == "__main__":
    gallery.main(run)
