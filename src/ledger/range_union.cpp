// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/range_union.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::ledger {

bool RangeUnion::covered(AddressRange range) const {
  const auto after = std::upper_bound(
      merged_.begin(), merged_.end(), range.begin,
      [](std::uint64_t address, const AddressRange& r) { return address < r.begin; });
  return after != merged_.begin() && range.end <= std::prev(after)->end;
}

bool RangeUnion::add(AddressRange range) {
  if (range.begin >= range.end) return false;
  if (++references_[range] > 1) return false;
  if (!stale_ && covered(range)) return false;
  stale_ = true;
  return true;
}

bool RangeUnion::remove(AddressRange range) {
  if (range.begin >= range.end) return false;
  const auto found = references_.find(range);
  if (--found->second > 0) return false;
  references_.erase(found);
  stale_ = true;
  return true;
}

const std::vector<AddressRange>& RangeUnion::ranges() const {
  if (stale_) {
    std::vector<AddressRange> all;
    all.reserve(references_.size());
    for (const auto& [range, count] : references_) all.push_back(range);
    merged_ = merged(std::move(all));
    stale_ = false;
  }
  return merged_;
}

}  // namespace ttmem::ledger
