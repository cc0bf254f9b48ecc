// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What stands in the program L1 of each core: the circular buffers, dataflow buffers and
// scratchpads of the live program or trace that was launched there last, and the union over all
// live programs. Both follow from the table alone. Chips with the same cores in the same device
// sets have the same answer, which is worked out once and kept until something changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/catalog.hpp"
#include "ledger/core_grid.hpp"
#include "ledger/live_programs.hpp"

namespace ttmem::ledger {

inline constexpr SlotIndex kNoSlot = 0xFFFFFFFF;

// On one core. A core that no launch has reached has no program; one whose last program keeps
// nothing there has a program and no ranges.
struct Standing {
  SlotIndex program = kNoSlot;
  SlotIndex trace = kNoSlot;         // that replayed it
  std::vector<AddressRange> ranges;  // merged; not yet clipped by buffers
};

class Residency {
 public:
  Residency(const Catalog& catalog, const SlotTable& slots, const LivePrograms& programs,
            const CoreGrids& grids)
      : catalog_(catalog), slots_(slots), programs_(programs), grids_(grids) {}

  // By position in the device's grid; null if its cores are not known. The device is taken as open.
  const std::vector<Standing>* standing(DeviceIndex device) const;
  const std::vector<std::vector<AddressRange>>* reserved(DeviceIndex device) const;
  // Whether anything was ever launched on the device that still lives.
  bool launched(DeviceIndex device) const;

 private:
  // Devices of one kind share answers.
  using Kind = std::pair<const CoreGrid*, std::vector<SetIndex>>;
  struct Launch {
    std::uint64_t stamp = 0;
    bool is_trace = false;
    SlotIndex slot = 0;
    SetIndex set = 0;
  };
  class Walk;

  std::optional<Kind> kind(DeviceIndex device) const;
  const std::vector<Launch>& launches() const;
  std::vector<std::vector<AddressRange>> work_out_reserved(const Kind& kind) const;

  const Catalog& catalog_;
  const SlotTable& slots_;
  const LivePrograms& programs_;
  const CoreGrids& grids_;
  using Moment = std::pair<std::uint64_t, std::uint64_t>;  // versions of programs and catalog
  mutable std::map<Kind, std::vector<Standing>> standing_;
  mutable std::map<Kind, std::vector<std::vector<AddressRange>>> reserved_;
  mutable std::vector<Launch> launches_;  // last one first
  mutable Moment standing_as_of_, reserved_as_of_;
  mutable std::uint64_t launches_as_of_ = 0;
};

}  // namespace ttmem::ledger
