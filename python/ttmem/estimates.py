# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Shows the figures of an `L1Tracker` in the views, labelled as estimates and in no total."""

import ctypes
import itertools
import os
from typing import List

from . import abi, figures, library

# Ids of programs that exist only as somebody's estimate; the runtime's own count up from 0.
_ids = itertools.count(1 << 63)


class Publisher:
    """Records each circular buffer and kernel as an estimated program of its own.

    While hooks record the true figures of this process it records nothing.
    """

    def __init__(self, device: int) -> None:
        self._recorder = library.load()
        self._pid = os.getpid()
        self._programs: List[int] = []
        self._address = 0
        self.recording = not self._recorder.ttmem_hooked()
        if self.recording:
            self._name = library.intern("L1Tracker")
            self._set = _set_of(self._recorder, device)

    def add_circular_buffer(self, size: int, page_bytes: int) -> None:
        """`size` bytes in all: which cores hold them is not known, so they count as one."""
        one = abi.Range(
            address=self._address, size=size, page_bytes=page_bytes, part=abi.Part.CB
        )
        self._address += size
        self._register(ranges=[one])

    def add_kernel(self, bytes_per_core: int, num_cores: int) -> None:
        """The cores are counted but not known by name, so their bytes are given as one sum."""
        one = abi.Kernel(
            name=self._name if self.recording else 0,
            packed_bytes=min(bytes_per_core * num_cores, 0xFFFFFFFF),
            processor=abi.UNKNOWN_PROCESSOR,
            core_type=abi.CoreType.TENSIX,
        )
        self._register(kernels=[one])

    def close(self) -> None:
        if self.recording and self._pid == os.getpid():
            for program in self._programs:
                self._recorder.ttmem_program_released(program)
        self._programs.clear()

    def _register(self, kernels: List[abi.Kernel] = [], ranges: List[abi.Range] = []) -> None:
        if not self.recording or self._pid != os.getpid():
            return
        program = abi.sized(
            abi.Program,
            type=abi.KernelType.APPLICATION,
            set=self._set,
            id=next(_ids),
            name=self._name,
            flags=abi.Flag.ESTIMATED,
            kernel_count=len(kernels),
            range_count=len(ranges),
            kernels=(abi.Kernel * len(kernels))(*kernels),
            ranges=(abi.Range * len(ranges))(*ranges),
        )
        self._recorder.ttmem_program_registered(ctypes.byref(program))
        self._programs.append(program.id)


def _set_of(recorder: ctypes.CDLL, metal_id: int) -> int:
    """The device set of one device, which is opened if this process has not opened it."""
    known = figures.by_metal_id().get(metal_id)
    index = known.recorded if known else open_unknown(recorder, metal_id)
    devices = (ctypes.c_uint16 * 1)(index)
    info = abi.sized(abi.SetInfo, device_count=1, devices=devices)
    return int(recorder.ttmem_device_set(ctypes.byref(info)))


def open_unknown(recorder: ctypes.CDLL, metal_id: int) -> int:
    """A device of which only the Metal id is known. Its unique id is the one that TT-Metal gives
    to chips without one."""
    info = abi.sized(abi.DeviceInfo, metal_id=metal_id, unique_id=metal_id << 32)
    return int(recorder.ttmem_device_opened(ctypes.byref(info)))
