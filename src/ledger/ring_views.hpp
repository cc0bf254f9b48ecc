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
#include <vector>

#include "ledger/figures.hpp"
#include "ledger/live_state.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

RingFigures ring_figures(const LiveState& live, const RingManagerRecord& manager,
                         const RingRecord& ring);

// The open rings of one device.
std::vector<RingView> ring_views(const LiveState& live, DeviceIndex device, const Naming& naming);

}  // namespace ttmem::ledger
