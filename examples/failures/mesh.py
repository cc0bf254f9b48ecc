# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""L1 is full on every chip of a mesh: a replicated activation holds as much on each."""

import ttnn

import gallery
from gallery import DRAM, L1

VERDICT = "full"
MESH = (1, 2)


def run(device, cure=None):
    # Made in DRAM instead of moved there: mock chips of a mesh refuse the program that copies.
    there = cure and cure["kind"] == "move_to_dram"
    held = [gallery.tensor(device, 60, DRAM if there else L1)]
    if not there:
        gallery.treat(held, cure)
    in_dram = cure and cure["kind"] == "request_in_dram"
    return held, gallery.tensor(device, 30, DRAM if in_dram else L1, gallery.data_type(cure))


if __name__ == "__main__":
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(*MESH))
    try:
        run(mesh)
    finally:
        ttnn.close_mesh_device(mesh)
