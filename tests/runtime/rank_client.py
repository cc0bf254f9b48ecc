# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""One rank of the real ttnn on a mock chip: holds more the higher its number is, and says what ttnn says of it."""

import json
import os
import signal

import ttnn

rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
device = ttnn.open_device(device_id=0)
kept = [ttnn.empty((256, 256), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG) for _ in range(rank + 1)]
view = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
print(json.dumps({"rank": rank, "dram": view.num_banks * view.total_bytes_allocated_per_bank}), flush=True)
signal.pause()
