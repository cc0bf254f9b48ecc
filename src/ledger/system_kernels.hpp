// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernels of ethernet and dispatch cores. Those that the device itself loads (fabric routers,
// command queues) are written to the base of the ring once and stay; no ring manager knows them.
#pragma once

#include <string>
#include <vector>

#include "ledger/core_picture.hpp"
#include "ledger/live_state.hpp"

namespace ttmem::ledger {

class SystemKernels {
 public:
  SystemKernels(const LiveState& live, DeviceIndex device);

  // Adds the kernels of a core, and the slices of those that the device loaded.
  void add_to(std::size_t position, CoreLayers& core) const;

 private:
  struct Placed {
    CoreMask cores;
    CoreKernel kernel;
    std::array<std::uint32_t, kCoreTypes> config_bytes;
  };
  std::vector<Placed> all_;
};

}  // namespace ttmem::ledger
