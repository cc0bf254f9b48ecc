# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""L1 is scattered: 45 MiB are free, but 30 MiB do not fit into any of the holes."""

import gallery
from gallery import DRAM, L1

VERDICT = "scattered"


def run(device, cure=None):
    held = [gallery.tensor(device, 20) for _ in range(4)]
    held[0] = held[2] = None
    gallery.treat(held, cure)
    in_dram = cure and cure["kind"] == "request_in_dram"
    return held, gallery.tensor(device, 30, DRAM if in_dram else L1, gallery.data_type(cure))


if __name__ == "__main__":
    gallery.main(run)
