# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What this process holds on its devices, read from its own recorder without leaving the process."""

import ctypes
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Union

from . import abi, library

#: A Metal device id, or a device of ttnn (an object with `get_device_ids()` or `id()`).
DeviceLike = Union[int, Any]

KINDS = ("dram", "l1", "l1_small", "trace", "program_l1", "kernels")


class NotTracked(RuntimeError):
    """Nothing records the device memory of this process."""


class DeviceFigures(NamedTuple):
    """Bytes of one device by kind.

    `dram`, `l1`, `l1_small`, `trace`: what buffers take from the allocator. `program_l1`: circular
    buffers, dataflow buffers and scratchpads, of the fullest state so far. `kernels`: binary bytes
    times cores, an upper bound that is part of no total.
    """

    dram: int = 0
    l1: int = 0
    l1_small: int = 0
    trace: int = 0
    program_l1: int = 0
    kernels: int = 0


class Device(NamedTuple):
    """A device that this process has opened. `recorded` is the recorder's own number."""

    recorded: int
    metal_id: int
    unique_id: int
    mock: bool
    is_open: bool


def require_recording() -> ctypes.CDLL:
    """The recorder, or NotTracked with what to do."""
    recorder = library.load()
    if not recorder.ttmem_segment_path():
        raise NotTracked(
            "ttmem: nothing records this process: call ttmem.track(), or start it with `ttmem run`"
        )
    return recorder


def devices() -> List[Device]:
    """Every device that this process has opened, closed ones included."""
    recorder = library.load()
    found = []
    identity = abi.sized(abi.DeviceIdentity)
    index = 1
    while recorder.ttmem_device_read(index, ctypes.byref(identity)) == 0:
        found.append(
            Device(
                index,
                identity.metal_id,
                identity.unique_id,
                bool(identity.mock),
                bool(identity.open),
            )
        )
        index += 1
    return found


def by_metal_id() -> Dict[int, Device]:
    """Devices by Metal id. Of several chips that had one id, the open one, else the newest."""
    result: Dict[int, Device] = {}
    for device in sorted(devices(), key=lambda one: (one.is_open, one.recorded)):
        result[device.metal_id] = device
    return dict(sorted(result.items()))


def metal_ids(device: DeviceLike) -> List[int]:
    """The Metal ids that a device of ttnn, a mesh, or a plain number stands for."""
    if isinstance(device, int):
        return [device]
    if hasattr(device, "get_device_ids"):
        return [int(one) for one in device.get_device_ids()]
    return [int(device.id())]


Reader = Callable[[Device, int], int]


def collect(read: Reader) -> Dict[int, DeviceFigures]:
    """The figures of every device, each value by `read(device, figure)`."""
    return {metal_id: figures_of(device, read) for metal_id, device in by_metal_id().items()}


def figures_of(device: Device, read: Reader) -> DeviceFigures:
    return DeviceFigures(*(read(device, figure) for figure in _figures()))


def taken(device: Device, figure: int) -> int:
    return int(_self(device, figure).taken)


def true_peak(device: Device, figure: int) -> int:
    return int(_self(device, figure).peak)


def _self(device: Device, figure: int) -> abi.Figures:
    figures = abi.Figures()
    library.load().ttmem_self(device.recorded, figure, ctypes.byref(figures))
    return figures


def _figures() -> Iterator[int]:
    for kind in KINDS:
        yield abi.Figure[kind.upper()]
