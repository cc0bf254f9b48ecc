# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A decoder written with ttnn, tensor-parallel on a T3K of 2x4 chips: what the pictures of the page show.

scripts/page_screens runs it on mock chips, in a Python that has ttnn. It says "ready" and waits for its
input to end.
"""

import functools
import sys

import ttnn

WIDTH, HIDDEN, TOKENS, LAYERS, VOCABULARY, CONTEXT = 4096, 14336 // 4, 1024, 6, 32768, 8192


# No function of its own: the line that asks for a tensor is the one that holds it.
weights = functools.partial(ttnn.empty, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                            memory_config=ttnn.DRAM_MEMORY_CONFIG)


def matmul(x, of):
    return ttnn.matmul(x, of, core_grid=ttnn.CoreGrid(y=7, x=8))


class Attention:
    def __init__(self, device):
        self.query = weights((WIDTH, WIDTH), device=device)
        self.output = weights((WIDTH, WIDTH), device=device)
        self.keys = weights((CONTEXT, WIDTH // 4), device=device)  # the cache
        self.values = weights((CONTEXT, WIDTH // 4), device=device)

    def __call__(self, x):
        heads = matmul(x, self.query)
        return ttnn.add(x, matmul(heads, self.output))


class FeedForward:
    def __init__(self, device):
        self.up = weights((WIDTH, HIDDEN), device=device)
        self.down = weights((HIDDEN, WIDTH), device=device)

    def __call__(self, x):
        hidden = matmul(x, self.up)
        return ttnn.add(x, matmul(hidden, self.down))


def main():
    device = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), l1_small_size=32768, trace_region_size=1 << 24)
    embedding = weights((VOCABULARY, WIDTH), device=device)
    layers = [part(device) for _ in range(LAYERS) for part in (Attention, FeedForward)]
    x = weights((TOKENS, WIDTH), device=device)
    for layer in layers:
        x = layer(x)
    activations = ttnn.empty((TOKENS, 2048), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    mask = ttnn.empty((TOKENS, TOKENS), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    activations = ttnn.add(activations, activations)
    print("ready", flush=True)
    sys.stdin.read()
    del activations, mask, x, layers, embedding
    ttnn.close_mesh_device(device)


if __name__ == "__main__":
    main()
