# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""L1 is full because the input of a step is freed only after the next one was made."""

import ttnn

import gallery
from gallery import DRAM, L1

VERDICT = "full"


def run(device, cure=None):
    x = gallery.tensor(device, 22)
    y = ttnn.add(x, x, memory_config=L1)
    z = ttnn.multiply(y, x, memory_config=L1)
    held = [x, y]
    gallery.treat(held, cure)
    in_dram = cure and cure["kind"] == "request_in_dram"
    return held, ttnn.add(z, z, memory_config=DRAM if in_dram else L1, dtype=gallery.data_type(cure))


if __name__ == "__main__":
    gallery.main(run)
