// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Patched programs, wrappers and clients of the original's protocol name a chip by its Metal number
// and know nothing else of it. Which chip that is, a reader concludes: the board with this number,
// as the driver counts them; without one, the chip that recorded processes know by it, if all mean
// the same. Else it stays a chip of its own, one for each number, whoever named it. What processes
// of the same user know counts first, then what those know who speak for others: nobody else can
// make two chips of what is one for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ledger/records.hpp"

namespace ttmem::collect {

// A chip of which nothing is known but its number: "LEGACY" and that number.
inline constexpr std::uint64_t kNumberedChip = 0x4C45474143590000;
inline constexpr std::uint64_t kChipNumber = 0xFFFF;
inline constexpr std::uint64_t numbered_chip(std::uint32_t number) {
  return kNumberedChip | (number & kChipNumber);
}
inline constexpr std::optional<std::uint32_t> number_of_chip(std::uint64_t unique_id) {
  if ((unique_id & ~kChipNumber) != kNumberedChip) return std::nullopt;
  return static_cast<std::uint32_t>(unique_id & kChipNumber);
}

class NumberedChips {
 public:
  struct Chip {
    std::uint64_t unique_id = 0;
    ledger::Arch arch = ledger::Arch::kUnknown;
    friend bool operator==(const Chip&, const Chip&) = default;
  };

  // A recorded process knows this device by its number.
  void tell(const ledger::DeviceRecord& device);
  // What others say of numbers that nobody here has told.
  void add_missing(const NumberedChips& others) {
    chips_.insert(others.chips_.begin(), others.chips_.end());
  }
  // The driver does, which is believed more.
  void tell_board(std::uint32_t number, const Chip& chip) { chips_[number] = chip; }

  Chip find(std::uint32_t number) const;
  // The same for an id that may be one of a number alone.
  std::uint64_t resolve(std::uint64_t unique_id) const;

 private:
  std::map<std::uint32_t, std::optional<Chip>> chips_;  // empty: they mean different ones
};

// What is meant by each user.
class ChipsOfUsers {
 public:
  struct Teller {
    std::uint32_t user = 0;
    bool trusted = false, alive = false;
  };
  void tell(const Teller& teller, const ledger::DeviceRecord& device);
  // All have told; `boards` are what the driver says.
  void conclude(const NumberedChips& boards);
  const NumberedChips& of(std::uint32_t user) const;

 private:
  std::map<std::uint32_t, NumberedChips> of_user_;
  NumberedChips trusted_, living_, dead_, of_others_;
};

}  // namespace ttmem::collect
