// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a change of one slot means: from "it held this and holds that now" to "program loaded".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/books.hpp"
#include "ledger/event.hpp"

namespace ttmem::ledger {

// What belongs to a program on its set.
struct ProgramContents {
  std::vector<EventKernel> kernels;
  std::uint64_t footprint = 0;     // of all its kernels, whether loaded or not
  std::uint64_t l1_allocated = 0;  // of its ranges, views left out; 0 if it does not count
};
// Of the program in a slot; nothing if there is none.
ProgramContents contents_of(const Books& books, SlotIndex slot);

struct SlotChange {
  Record before, after;
  ProgramContents contents_before, contents_after;
};
// As ProcessLedger::apply_and_tell.
std::optional<EventView> event_of(const Books& books, const SlotChange& change);

}  // namespace ttmem::ledger
