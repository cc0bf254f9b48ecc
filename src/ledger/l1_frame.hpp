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
#include <vector>

#include "ledger/books.hpp"
#include "ledger/figures.hpp"

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

// One frame a core of the device's grid; empty if its cores are not known.
std::vector<L1Frame> l1_frames(const Books& books, DeviceIndex device);
std::uint64_t bytes_below(std::span<const AddressRange> merged_ranges, std::uint64_t ceiling);

}  // namespace ttmem::ledger
