// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A kernel-config ring as figures, and as the slices and holes that it consists of.
//
// A slice lies in the ring until something is written over it. It counts as taken while the program
// that it belongs to lives, whether that runs now or not: a launch that finds its slice is a hit,
// and to overwrite it is an eviction. The runtime puts the next slice at its cursor, or at the base
// of the ring; so not every hole can be had.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/figures.hpp"
#include "ledger/live_state.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

RingFigures ring_figures(const LiveState& live, const RingManagerRecord& manager,
                         const RingRecord& ring);

// What lies in rings, by address and inside of them: the one rule for the strip of a ring and for
// the L1 of a core.
class RingSlices {
 public:
  RingSlices(const LiveState& live, bool with_names);
  std::vector<RingSliceView> of(const RingRecord& ring) const;

 private:
  std::string name_of(std::uint64_t workload) const;

  const LiveState& live_;
  bool with_names_;
  std::unordered_map<std::uint64_t, SlotIndex> first_programs_;  // of each workload
};

// The open rings of one device.
std::vector<RingView> ring_views(const LiveState& live, DeviceIndex device, const Naming& naming);

}  // namespace ttmem::ledger
