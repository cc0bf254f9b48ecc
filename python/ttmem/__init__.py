# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Live, exact device-memory accounting for Tenstorrent devices.

``ttmem.track()`` hooks a process that uses TT-Metal or ttnn; ``ttmem.snapshot()`` tells what
everybody holds; ``ttmem.region("name")`` measures a block; ``ttmem.step()`` marks a step of a loop; `memory_allocated` and its kin answer for
this process. ``ttmem.L1Tracker`` counts by hand. docs/python.md has an example of each.

Importing this package loads no library and starts nothing.
"""

from .command import snapshot
from .explaining import explain
from .figures import Device, DeviceFigures, NotTracked, devices
from .fit import fit
from .l1_tracker import L1Tracker
from .memory import (
    max_memory_allocated,
    memory_allocated,
    memory_summary,
    reset_peak_memory_stats,
)
from .recording import Recording, record
from .recording import open_recording as open
from .region import Region, region
from .steps import step
from .track import Tracking, track
from .watermark import peak, reset_peak

# `open` is not in the list below: a star would take the place of Python's own.
__version__ = "0.1.0"

__all__ = [
    "Device",
    "DeviceFigures",
    "L1Tracker",
    "NotTracked",
    "Recording",
    "Region",
    "Tracking",
    "devices",
    "explain",
    "fit",
    "max_memory_allocated",
    "memory_allocated",
    "memory_summary",
    "peak",
    "record",
    "region",
    "reset_peak",
    "reset_peak_memory_stats",
    "snapshot",
    "step",
    "track",
]
