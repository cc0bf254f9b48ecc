# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Three operations of ttnn, and a wait: run by kernels.py in a Python that has ttnn."""

import json
import os
import sys

import ttnn

device = ttnn.open_device(device_id=0)
a = ttnn.empty((1024, 1024), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG)
kept = [ttnn.add(a, a), ttnn.matmul(a, a), ttnn.softmax(a)]
print(json.dumps({"checkpoint": "operations", "pid": os.getpid()}, separators=(",", ":")), flush=True)
sys.stdin.readline()
ttnn.close_device(device)
