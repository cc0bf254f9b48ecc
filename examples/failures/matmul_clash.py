# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A clash: a matmul with wide blocks needs L1 that an activation holds already."""

import ttnn

import gallery

VERDICT = "clash"
BLOCK_WIDTH = 8


def run(device, cure=None):
    a = ttnn.ones((1024, 1024), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    held = [gallery.tensor(device, 72)]
    gallery.treat(held, cure)
    divisor = cure["value"] if cure and cure["kind"] == "program_config" else 1
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 8), in0_block_w=BLOCK_WIDTH // divisor, out_subblock_h=1,
        out_subblock_w=1, per_core_M=4, per_core_N=4, transpose_mcast=False, fused_activation=None)
    return held, ttnn.matmul(a, a, program_config=config)


if __name__ == "__main__":
    gallery.main(run)
