// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How one space came to be as it is: what is held now, and the changes of the last seconds undone
// one after the other. A loop goes up and down, so what counts is the peak of each quarter of that
// time: only where every quarter is higher than the one before is anything said about the future.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/space_picture.hpp"

namespace ttmem::explain {

struct HeldChange {
  ledger::TimeNs time = 0;
  bool allocated = false;  // else freed
  ledger::AddressRange range;
};

struct Growth {
  double seconds = 0;  // that were looked at
  std::uint64_t changes = 0;
  double held_per_second = 0;  // bytes in each bank; 0 = it does not grow
  double fall_per_second = 0;  // of the lowest address; 0 = it does not fall
};

// `changes` are those up to now, the oldest first. Empty if they are too few, or do not lead to
// what is held.
std::optional<Growth> growth_of(const ledger::SpacePicture& picture,
                                const std::vector<HeldChange>& changes, ledger::TimeNs now);

}  // namespace ttmem::explain
