# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A chip that exists only in this process's segment: 12 DRAM banks and 64 L1 banks."""

import ctypes

from ttmem import abi, library

DRAM_BANKS = 12
L1_BANKS = 64


class Chip:
    def __init__(self, metal_id=0, unique_id=None):
        self.recorder = library.load()
        info = abi.sized(
            abi.DeviceInfo,
            metal_id=metal_id,
            unique_id=0x100 + metal_id if unique_id is None else unique_id,
            arch=2,
            mock=1,
        )
        self.device = self.recorder.ttmem_device_opened(ctypes.byref(info))
        devices = (ctypes.c_uint16 * 1)(self.device)
        self.set = self.recorder.ttmem_device_set(
            ctypes.byref(abi.sized(abi.SetInfo, device_count=1, devices=devices))
        )
        spaces = (abi.SpaceInfo * 2)(
            abi.SpaceInfo(space=0, banks=DRAM_BANKS, bank_bytes=1072693184, alignment=32),
            abi.SpaceInfo(space=1, banks=L1_BANKS, bank_bytes=1393312, alignment=16),
        )
        self.allocator = self.recorder.ttmem_allocator_opened(
            ctypes.byref(
                abi.sized(abi.AllocatorInfo, set=self.set, space_count=2, spaces=spaces)
            )
        )

    def allocate(self, number, block, space=abi.Space.DRAM):
        """Takes `block` bytes of every bank of a space."""
        banks = DRAM_BANKS if space == abi.Space.DRAM else L1_BANKS
        buffer = abi.Buffer(
            id=number,
            address=number << 12,
            requested=block * banks,
            block=block,
            allocator=self.allocator,
            space=space,
        )
        self.recorder.ttmem_buffer_allocated_(ctypes.byref(buffer))

    def free(self, number, space=abi.Space.DRAM):
        self.recorder.ttmem_buffer_freed_(self.allocator, space, number)

    def close(self):
        self.recorder.ttmem_allocator_closed(self.allocator)
        self.recorder.ttmem_device_closed(self.device)
