// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What all clients together hold on each device, in the original's measures. Every figure is the
// sum of live entries: it goes up and down by what an entry stored, never by what a message says.
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace ttmem::legacy {

inline constexpr std::size_t kKinds = 5;        // DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE
inline constexpr std::size_t kKernelKinds = 4;  // Application, Fabric, Dispatch, anything else

struct Tally {
  std::array<std::uint64_t, kKinds> bytes{};
  std::uint64_t buffers = 0;
  std::uint64_t cb_bytes = 0, cbs = 0;
  std::array<std::uint64_t, kKernelKinds> kernel_bytes{};
  std::array<std::uint64_t, kKernelKinds> kernels{};

  // Device memory: host memory is a figure of its own.
  std::uint64_t device_bytes() const { return bytes[0] + bytes[1] + bytes[3] + bytes[4]; }
  std::uint64_t all_kernel_bytes() const {
    return kernel_bytes[0] + kernel_bytes[1] + kernel_bytes[2] + kernel_bytes[3];
  }
  std::uint64_t all_kernels() const { return kernels[0] + kernels[1] + kernels[2] + kernels[3]; }
  bool empty() const { return buffers == 0 && cbs == 0 && all_kernels() == 0; }
};

using Tallies = std::map<std::int32_t, Tally>;  // by device

inline std::size_t kernel_kind(std::uint8_t type) { return type < 3 ? type : 3; }

}  // namespace ttmem::legacy
