// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The frame of one core's L1: what is fixed in it, where program L1 may start, and where it must
// end because buffers begin.
//
//   0      fixed_end  ring        unreserved_base            floor           top      l1_bytes
//   | fixed |  gap  | ring | gap | program L1 ->   free   <- | L1 buffers    | L1_SMALL |
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ledger/catalog.hpp"
#include "ledger/core_grid.hpp"
#include "ledger/live_buffers.hpp"

namespace ttmem::ledger {

struct L1Frame {
  CoreRecord core;
  CoreGeometry geometry;
  bool bank = false;                     // buffers of an allocator lie here
  std::optional<std::uint64_t> floor;    // the lowest buffer that limits this core
  std::optional<std::uint64_t> top;      // end of the region that buffers and programs share
  std::optional<AddressRange> l1_small;  // the region, used or not

  // Program L1 that is really there: below the buffers and inside the L1.
  std::uint64_t ceiling() const;
  // Room above `program_end`; 0 stands for no program. Empty if the frame is not known, or if this
  // core runs no programs of users.
  std::optional<std::int64_t> headroom(std::uint64_t program_end) const;
};

std::uint64_t bytes_below(std::span<const AddressRange> merged_ranges, std::uint64_t ceiling);

class L1Frames {
 public:
  L1Frames(const Catalog& catalog, const LiveBuffers& buffers, const CoreGrids& grids)
      : catalog_(catalog), buffers_(buffers), grids_(grids) {}

  // One frame a core of the device's grid; none if its cores are not known. Good until the next
  // question about this device.
  const std::vector<L1Frame>& of(DeviceIndex device) const;

 private:
  std::vector<L1Frame> without_floors(DeviceIndex device) const;

  const Catalog& catalog_;
  const LiveBuffers& buffers_;
  const CoreGrids& grids_;
  mutable std::unordered_map<DeviceIndex, std::vector<L1Frame>> frames_;
  mutable std::uint64_t as_of_ = 0;
};

}  // namespace ttmem::ledger
