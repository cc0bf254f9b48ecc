// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/numbered_chips.hpp"

#include <utility>

namespace ttmem::collect {

void NumberedChips::tell(const ledger::DeviceRecord& device) {
  // A mock chip is as its own process made it up.
  if (device.numbered || device.mock || !device.metal_id) return;
  if (device.arch == ledger::Arch::kUnknown) return;
  const Chip chip{device.unique_id, device.arch};
  const auto [known, added] =
      chips_.try_emplace(static_cast<std::uint32_t>(*device.metal_id), chip);
  if (!added && known->second != chip) known->second.reset();
}

NumberedChips::Chip NumberedChips::find(std::uint32_t number) const {
  const auto known = chips_.find(number);
  if (known != chips_.end() && known->second) return *known->second;
  return {numbered_chip(number), ledger::Arch::kUnknown};
}

std::uint64_t NumberedChips::resolve(std::uint64_t unique_id) const {
  const auto number = number_of_chip(unique_id);
  return number ? find(*number).unique_id : unique_id;
}

void ChipsOfUsers::tell(const Teller& teller, const ledger::DeviceRecord& device) {
  if (!teller.alive) return dead_.tell(device);
  of_user_[teller.user].tell(device);
  (teller.trusted ? trusted_ : living_).tell(device);
}

void ChipsOfUsers::conclude(const NumberedChips& boards) {
  of_others_ = boards;
  for (const NumberedChips* next : {&trusted_, &living_, &dead_}) of_others_.add_missing(*next);
  for (auto& [user, own] : of_user_) {
    NumberedChips all = boards;
    all.add_missing(own);
    all.add_missing(of_others_);
    own = std::move(all);
  }
}

const NumberedChips& ChipsOfUsers::of(std::uint32_t user) const {
  const auto known = of_user_.find(user);
  return known == of_user_.end() ? of_others_ : known->second;
}

}  // namespace ttmem::collect
