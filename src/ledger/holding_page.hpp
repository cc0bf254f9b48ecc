// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A part of all holdings: those that are wanted, from a place on, as many as are taken. Costs what
// is taken, not what there is (holding_index.hpp).
//
//   HoldingPlace next;
//   visit_holdings(processes, snapshot, {}, next, [&](const HoldingView& view) {
//     page.push_back(view);
//     return page.size() < 100;
//   });                                       // `next` is where the next page begins
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ledger/assemble.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

struct HoldingQuestion {
  std::vector<HoldingKind> kinds;              // empty = all
  std::vector<Space> spaces;                   // empty = all; else buffers alone
  std::optional<std::uint32_t> device;         // of the document; empty = all
  std::function<bool(const ProcessName&)> of;  // whose; empty = everybody's, the dead included
};

// Where one holding stands among all: by process, then by slot, then as a part of its program.
struct HoldingPlace {
  std::uint64_t process = 0;  // its position among the processes
  std::uint64_t key = 0;      // ProcessView::key of it; 0: the first process of that position
  SlotIndex slot = 0;
  std::uint32_t part = 0;
};

// Calls visit(holding) from `place` on, until it says that this is enough: then true, and `place`
// is behind the last one. If the process of the place is gone it goes on with the one that is now
// at its position.
bool visit_holdings(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                    const HoldingQuestion& question, HoldingPlace& place,
                    const std::function<bool(const HoldingView&)>& visit);

// How many there are.
std::uint64_t count_holdings(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                             const HoldingQuestion& question);

}  // namespace ttmem::ledger
