// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The union of address ranges, each counted by how many programs have it: a range leaves when the
// last one goes. Cached programs reuse the same few ranges, so the list stays short however many
// programs live.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ledger/address_map.hpp"

namespace ttmem::ledger {

class RangeUnion {
 public:
  // True if the union may have changed.
  bool add(AddressRange range);
  bool remove(AddressRange range);  // one that was added

  // Sorted, without overlaps.
  const std::vector<AddressRange>& ranges() const;
  bool empty() const { return references_.empty(); }

 private:
  bool covered(AddressRange range) const;

  std::map<AddressRange, std::uint64_t> references_;
  mutable std::vector<AddressRange> merged_;
  mutable bool stale_ = false;
};

}  // namespace ttmem::ledger
