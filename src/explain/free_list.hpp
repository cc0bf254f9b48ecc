// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The holes of one bank, as the runtime's allocator keeps them, to try things out on: free this,
// place that, and see what is left. The place rule is the runtime's: in L1 (and L1_SMALL) a buffer
// takes the end of the highest hole that it fits in, elsewhere the start of the lowest one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ledger/address_map.hpp"
#include "ledger/enums.hpp"

namespace ttmem::explain {

class FreeList {
 public:
  // What `held` leaves of `bank`; `held` is sorted by begin.
  FreeList(ledger::Space space, ledger::AddressRange bank,
           const std::vector<ledger::AddressRange>& held);

  // Gives a range back. It was held.
  void release(ledger::AddressRange range);
  // Takes a block by the place rule; empty if no hole is large enough.
  std::optional<ledger::AddressRange> place(std::uint64_t bytes);
  // Takes this range, which is free.
  void take(ledger::AddressRange range);
  // Where place() would put it.
  std::optional<ledger::AddressRange> find(std::uint64_t bytes) const;

  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t largest() const;
  std::uint64_t lowest_held() const;  // address; the end of the bank if nothing is held
  // Bytes of the hole that would be there if `range`, which is held, were free.
  std::uint64_t hole_without(ledger::AddressRange range) const;
  std::vector<ledger::AddressRange> holes() const;  // by address

 private:
  ledger::Space space_;
  std::uint64_t bottom_;
  std::map<std::uint64_t, std::uint64_t> holes_;  // begin to end
  std::uint64_t free_bytes_ = 0;
};

// Whether buffers are placed from the top.
inline bool is_top_down(ledger::Space space) {
  return space == ledger::Space::kL1 || space == ledger::Space::kL1Small;
}

}  // namespace ttmem::explain
