# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What can happen to a mesh: a new shape, a collective operation, sub-meshes. Run by mesh_changes.py in a
Python that has ttnn."""

import ttnn
from ttnn_client import checkpoint, tensor

ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
device = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
before = tensor(device, (256, 256), ttnn.L1_MEMORY_CONFIG)
checkpoint("2x4", device)
device.reshape(ttnn.MeshShape(1, 8))
checkpoint("reshaped", device)
after = tensor(device, (256, 256))
checkpoint("allocated in the new shape", device)
gathered = ttnn.all_gather(after, dim=1, num_links=1)
checkpoint("gathered", device)
ttnn.deallocate(before)
ttnn.deallocate(gathered)
ttnn.deallocate(after)
device.clear_program_cache()
device.reshape(ttnn.MeshShape(2, 4))
rows = device.create_submeshes(ttnn.MeshShape(1, 4))
second = tensor(rows[1], (512, 512))
checkpoint("sub-mesh without buffers", rows[0])
checkpoint("sub-mesh with a buffer", rows[1])
for row in rows:
    ttnn.close_mesh_device(row)
ttnn.close_mesh_device(device)
