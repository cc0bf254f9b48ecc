# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Count by hand what a model puts into L1: circular buffers and kernel code.

This file needs nothing but Python. Copy it into a model, or use it as ``ttmem.L1Tracker``::

    tracker = L1Tracker()
    tracker.track_cb(1024, 2048)        # 1024 tiles of 2048 bytes
    tracker.track_kernel(num_cores=16)  # 50 KiB per core unless the size is known
    tracker.summary()

The figures are what the caller says, so they are an estimate: they know nothing of reuse, of views
of other buffers, or of programs that never run. ``publish=True`` shows them in the views of ttmem,
labelled `estimated` and outside every total; that, and only that, needs the ttmem package.
"""

from typing import Any, Optional

__all__ = ["KERNEL_BYTES_PER_CORE", "L1Tracker"]

#: What a kernel is taken to need on each core while its true size is not known.
KERNEL_BYTES_PER_CORE = 50 * 1024

_MB = 1024 * 1024


class L1Tracker:
    """Adds up circular buffers and kernels that the program names.

    Two sets of names do the same: `track_cb`, `track_kernel`, `summary` with `cb_total`,
    `kernel_est`, `num_kernels`, and the short `cb_alloc`, `kernel_add`, `show` with `cb`, `kern`.
    """

    def __init__(self, publish: bool = False, device: int = 0) -> None:
        """With `publish`, the figures also appear in ttmem's views, on Metal device `device`."""
        self.cb_total = 0
        self.kernel_est = 0
        self.num_kernels = 0
        self._true_sizes = 0
        self._publisher = _publisher(device) if publish else None

    # ---- the long form ---------------------------------------------------------------------

    def track_cb(self, num_tiles: int, tile_size: int) -> int:
        """Adds a circular buffer and returns its bytes."""
        size = num_tiles * tile_size
        self.cb_total += size
        if self._publisher is not None:
            self._publisher.add_circular_buffer(size, tile_size)
        return size

    def track_kernel(self, num_cores: int = 1, size_per_core: Optional[int] = None) -> int:
        """Adds a kernel on `num_cores` cores and returns its bytes on all of them.

        Without `size_per_core` it counts as `KERNEL_BYTES_PER_CORE` on each core, an estimate.
        """
        if size_per_core is None:
            size_per_core = KERNEL_BYTES_PER_CORE
        else:
            self._true_sizes += 1
        total = size_per_core * num_cores
        self.kernel_est += total
        self.num_kernels += 1
        if self._publisher is not None:
            self._publisher.add_kernel(size_per_core, num_cores)
        return total

    def summary(self) -> None:
        """Prints the totals, between two empty lines."""
        exact = 0 < self.num_kernels == self._true_sizes
        label = "Kernel Code:      " if exact else "Kernel Code (est):"
        rule = "=" * 60
        print(f"\n{rule}")
        print("L1 Memory Usage Breakdown")
        print(rule)
        print(f"Circular Buffers:  {self.cb_total / _MB:8.1f} MB")
        print(f"{label} {self.kernel_est / _MB:8.1f} MB")
        print(f"  ({self.num_kernels} kernels)")
        print(f"Total L1 Overhead: {(self.cb_total + self.kernel_est) / _MB:8.1f} MB")
        print(f"{rule}\n")

    # ---- the short form --------------------------------------------------------------------

    @property
    def cb(self) -> int:
        """Bytes of circular buffers: another name of `cb_total`."""
        return self.cb_total

    @cb.setter
    def cb(self, value: int) -> None:
        self.cb_total = value

    @property
    def kern(self) -> int:
        """Bytes of kernels: another name of `kernel_est`."""
        return self.kernel_est

    @kern.setter
    def kern(self, value: int) -> None:
        self.kernel_est = value

    def cb_alloc(self, tiles: int, tile_size: int) -> None:
        """Adds a circular buffer and prints what it adds."""
        size = self.track_cb(tiles, tile_size)
        print(f"CB: +{size / _MB:.1f}MB")

    def kernel_add(self, cores: int = 1, size_per_core: Optional[int] = None) -> None:
        """Adds a kernel on `cores` cores."""
        self.track_kernel(cores, size_per_core)

    def show(self) -> None:
        """Prints both totals in one line, after an empty one."""
        print(f"\nL1: CBs={self.cb / _MB:.1f}MB, Kernels={self.kern / _MB:.1f}MB")

    # ---- publishing ------------------------------------------------------------------------

    @property
    def published(self) -> bool:
        """Whether the figures reach the views. They do not while hooks record the true ones."""
        return self._publisher is not None and self._publisher.recording

    def close(self) -> None:
        """Takes what was published out of the views. The sums stay."""
        if self._publisher is not None:
            self._publisher.close()


def _publisher(device: int) -> Any:
    try:
        from ttmem.estimates import Publisher
    except ImportError as reason:
        raise ImportError("publish=True needs the ttmem package: pip install ttmem") from reason
    return Publisher(device)
