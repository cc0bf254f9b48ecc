# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A program alone is too large: blocks as wide as the whole matrix do not fit into L1."""

import ttnn

import gallery

VERDICT = "program_too_large"
BLOCK_WIDTH = 64


def run(device, cure=None):
    a = ttnn.ones((2048, 2048), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    divisor = cure["value"] if cure and cure["kind"] == "program_config" else 1
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 8), in0_block_w=BLOCK_WIDTH // divisor, out_subblock_h=1,
        out_subblock_w=1, per_core_M=8, per_core_N=8, transpose_mcast=False, fused_activation=None)
    return ttnn.matmul(a, a, program_config=config)


if __name__ == "__main__":
    gallery.main(run)
