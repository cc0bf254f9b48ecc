# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A small decoder written with ttnn, as four data-parallel copies on a 1x4 mesh; run by pytest.

model.py starts it under `ttmem run` in a Python that has ttnn. Each iteration ends with a line of JSON
and a wait.
"""

import json
import os

import ttnn

WIDTH = 128
TOKENS = 64
LAYERS = 2


def weights(device, shape):
    return ttnn.empty(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)


class Layer:
    def __init__(self, device):
        self.query, self.key, self.value, self.output = (
            weights(device, (WIDTH, WIDTH)) for _ in range(4)
        )
        self.up = weights(device, (WIDTH, WIDTH))
        self.down = weights(device, (WIDTH, WIDTH))

    def __call__(self, x):
        query, key, value = (ttnn.matmul(x, w) for w in (self.query, self.key, self.value))
        scores = ttnn.softmax(ttnn.matmul(query, key, transpose_b=True))
        x = ttnn.add(x, ttnn.matmul(ttnn.matmul(scores, value), self.output))
        return ttnn.add(x, ttnn.matmul(ttnn.matmul(x, self.up), self.down))


def test_decoder():
    device = ttnn.open_mesh_device(ttnn.MeshShape(1, 4))
    layers = [Layer(device) for _ in range(LAYERS)]
    x = weights(device, (TOKENS, WIDTH))
    for iteration in range(2):
        y = x
        for layer in layers:
            y = layer(y)
        point = {
            "checkpoint": f"iteration {iteration}",
            "pid": os.getpid(),
            "chips": list(device.get_device_ids()),
        }
        os.write(1, (json.dumps(point, separators=(",", ":")) + "\n").encode())
        os.read(0, 1)
        del y
    ttnn.close_mesh_device(device)
