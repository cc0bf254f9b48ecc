# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""DRAM is full: eleven weights of 1 GiB, and a cache of 2 GiB does not fit beside them."""

import gallery
from gallery import DRAM

VERDICT = "full"


def run(device, cure=None):
    weights = [gallery.tensor(device, 1024, DRAM) for _ in range(11)]
    gallery.treat(weights, cure)
    cache = gallery.tensor(device, 2048, DRAM, gallery.data_type(cure))
    return weights, cache


if __name__ == "__main__":
    gallery.main(run)
