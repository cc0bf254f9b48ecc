# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""L1 is full: an activation of 84 MiB leaves no room for one of 10 MiB."""

import gallery
from gallery import DRAM, L1

VERDICT = "full"


def run(device, cure=None):
    held = [gallery.tensor(device, 84)]
    gallery.treat(held, cure)
    in_dram = cure and cure["kind"] == "request_in_dram"
    return held, gallery.tensor(device, 10, DRAM if in_dram else L1, gallery.data_type(cure))


if __name__ == "__main__":
    gallery.main(run)
