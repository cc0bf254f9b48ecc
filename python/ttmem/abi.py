# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The structs and constants of ``include/ttmem/ttmem.h``, for ctypes.

Names are those of the header without their prefix: ``TTMEM_SPACE_L1`` is ``Space.L1``,
``struct ttmem_buffer`` is ``Buffer``. The header explains every field. A test compares the size and
every offset with what a C compiler makes of the header.
"""

import ctypes
from ctypes import (
    POINTER,
    c_char_p,
    c_int32,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
)
from enum import IntEnum, IntFlag
from typing import Any, Type, TypeVar

VERSION = 1


class Space(IntEnum):
    """Memory spaces, numbered as TT-Metal's BufferType."""

    DRAM = 0
    L1 = 1
    SYSTEM_MEMORY = 2
    L1_SMALL = 3
    TRACE = 4


class Figure(IntEnum):
    """What `ttmem_self` and watermarks know: the spaces of a device, then what programs hold."""

    DRAM = 0
    L1 = 1
    L1_SMALL = 3
    TRACE = 4
    PROGRAM_L1 = 5
    KERNELS = 6


#: How many figures a device has room for.
FIGURES = 8


class CoreType(IntEnum):
    TENSIX = 0
    ACTIVE_ETH = 1
    IDLE_ETH = 2
    DRAM = 3
    DISPATCH = 4


class KernelType(IntEnum):
    APPLICATION = 0
    FABRIC = 1
    DISPATCH = 2


class Part(IntEnum):
    CB = 0
    DATAFLOW_BUFFER = 1
    SCRATCHPAD = 2
    VIEW = 3


class Flag(IntFlag):
    KERNEL_BINARIES = 1
    TRACE = 2
    PROGRAM_CACHE = 4
    REQUESTED_ONLY = 8
    ESTIMATED = 16
    LAUNCHES_UNTOLD = 32


class Source(IntEnum):
    API = 0
    INJECTOR = 1
    PATCHED = 2
    LEGACY = 3


CORE_TYPES = 5
LAYOUT_UNKNOWN = 7
UNKNOWN_PROCESSOR = 255


class ProcessInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("source", c_uint32),
        ("attached_late", c_uint32),
        ("stand_in_kernels", c_uint32),
        ("runtime_version", c_char_p),
        ("runtime_library", c_char_p),
        ("hook_names", c_char_p),
        ("hooks_wanted", c_uint64 * 2),
        ("hooks_bound", c_uint64 * 2),
        ("lines", c_uint32),
        ("unreached", c_uint32),
        ("lines_reason", c_char_p),
    ]


class CoreRange(ctypes.Structure):
    _fields_ = [("x0", c_uint8), ("y0", c_uint8), ("x1", c_uint8), ("y1", c_uint8)]


class Core(ctypes.Structure):
    _fields_ = [
        ("x", c_uint8),
        ("y", c_uint8),
        ("role", c_uint8),
        ("core_type", c_uint8),
        ("noc_x", c_uint8),
        ("noc_y", c_uint8),
        ("reserved", c_uint8 * 2),
    ]


class CoreGeometry(ctypes.Structure):
    _fields_ = [
        ("l1_bytes", c_uint32),
        ("fixed_end", c_uint32),
        ("ring_base", c_uint32),
        ("ring_bytes", c_uint32),
        ("unreserved_base", c_uint32),
    ]


class DeviceInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("metal_id", c_int32),
        ("unique_id", c_uint64),
        ("arch", c_uint32),
        ("mock", c_uint32),
        ("board", c_char_p),
        ("grid_x", c_uint32),
        ("grid_y", c_uint32),
        ("dram_banks", c_uint32),
        ("core_count", c_uint32),
        ("dram_bank_bytes", c_uint64),
        ("cores", POINTER(Core)),
        ("geometry", CoreGeometry * CORE_TYPES),
    ]


class SetInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("device_count", c_uint32),
        ("devices", POINTER(c_uint16)),
        ("rows", c_uint16),
        ("columns", c_uint16),
        ("parent", c_uint16),
        ("reserved", c_uint16),
    ]


class SpaceInfo(ctypes.Structure):
    _fields_ = [
        ("space", c_uint32),
        ("banks", c_uint32),
        ("base", c_uint64),
        ("bank_bytes", c_uint64),
        ("alignment", c_uint32),
        ("reserved", c_uint32),
        ("bank_cores", POINTER(CoreRange)),
    ]


class AllocatorInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("per_core", c_uint32),
        ("set", c_uint16),
        ("space_count", c_uint16),
        ("reserved", c_uint32),
        ("spaces", POINTER(SpaceInfo)),
    ]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("id", c_uint64),
        ("address", c_uint64),
        ("requested", c_uint64),
        ("block", c_uint64),
        ("cores", c_uint32),
        ("allocator", c_uint16),
        ("space", c_uint8),
        ("layout", c_uint8),
        ("per_core", c_uint8),
        ("reserved", c_uint8 * 3),
        ("flags", c_uint32),
    ]


class Kernel(ctypes.Structure):
    _fields_ = [
        ("name", c_uint32),
        ("source", c_uint32),
        ("hash", c_uint64),
        ("cores", c_uint32),
        ("packed_bytes", c_uint32),
        ("text_bytes", c_uint32),
        ("processor", c_uint8),
        ("core_type", c_uint8),
        ("reserved", c_uint8 * 2),
    ]


class Range(ctypes.Structure):
    _fields_ = [
        ("address", c_uint64),
        ("size", c_uint64),
        ("viewed_buffer", c_uint64),
        ("cores", c_uint32),
        ("page_bytes", c_uint32),
        ("part", c_uint8),
        ("index", c_uint8),
        ("reserved", c_uint8 * 6),
    ]


class Program(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("type", c_uint8),
        ("reserved", c_uint8),
        ("set", c_uint16),
        ("id", c_uint64),
        ("workload", c_uint64),
        ("name", c_uint32),
        ("flags", c_uint32),
        ("config_bytes", c_uint32 * CORE_TYPES),
        ("kernel_count", c_uint32),
        ("range_count", c_uint32),
        ("reserved2", c_uint32),
        ("kernels", POINTER(Kernel)),
        ("ranges", POINTER(Range)),
    ]


class DeviceIdentity(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("metal_id", c_int32),
        ("unique_id", c_uint64),
        ("arch", c_uint32),
        ("mock", c_uint32),
        ("open", c_uint32),
        ("reserved", c_uint32),
    ]


class Figures(ctypes.Structure):
    _fields_ = [("taken", c_uint64), ("peak", c_uint64)]


AnyStruct = TypeVar("AnyStruct", bound=ctypes.Structure)


def sized(kind: Type[AnyStruct], **fields: Any) -> AnyStruct:
    """A struct that starts with its own size, zero but for the given fields."""
    return kind(struct_size=ctypes.sizeof(kind), **fields)
