# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What a stock TT-Metal writes about its processes, as /dev/shm/tt_device_*_memory."""

import struct

BYTES, ROWS_AT, ROW_BYTES, READY_AT, READY = 8576, 856, 120, 8536, 0x52454459


def region(unique_id, rows):
    """Layout 4: rows are (pid, dram, l1, l1_small, trace, name)."""
    data = bytearray(BYTES)
    struct.pack_into("<I", data, 0, 4)
    struct.pack_into("<Q", data, 32, unique_id)
    struct.pack_into("<I", data, READY_AT, READY)
    for index, (pid, dram, l1, l1_small, trace, name) in enumerate(rows):
        at = ROWS_AT + ROW_BYTES * index
        struct.pack_into("<i4x5QQ", data, at, pid, dram, l1, l1_small, trace, 0, 2**62)
        data[at + 56:at + 56 + len(name)] = name
    return bytes(data)
