// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/free_list.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace ttmem::explain {

using ledger::AddressRange;

FreeList::FreeList(ledger::Space space, AddressRange bank, const std::vector<AddressRange>& held)
    : space_(space), bottom_(bank.begin) {
  TTMEM_DCHECK(std::ranges::is_sorted(held, {}, &AddressRange::begin));
  std::uint64_t at = bank.begin;
  const auto add_hole = [&](std::uint64_t end) {
    if (at >= end) return;
    holes_.emplace_hint(holes_.end(), at, end);
    free_bytes_ += end - at;
  };
  for (const AddressRange& range : held) {
    add_hole(std::min(range.begin, bank.end));
    at = std::max(at, range.end);
  }
  add_hole(bank.end);
}

void FreeList::release(AddressRange range) {
  if (range.begin >= range.end) return;
  free_bytes_ += range.end - range.begin;
  auto above = holes_.lower_bound(range.begin);
  if (above != holes_.begin()) {
    const auto below = std::prev(above);
    if (below->second >= range.begin) {
      range.begin = below->first;
      holes_.erase(below);
    }
  }
  if (above != holes_.end() && above->first <= range.end) {
    range.end = std::max(range.end, above->second);
    holes_.erase(above);
  }
  holes_.emplace(range.begin, range.end);
}

std::optional<AddressRange> FreeList::find(std::uint64_t bytes) const {
  const auto fits = [&](const auto& hole) { return hole.second - hole.first >= bytes; };
  if (is_top_down(space_)) {
    const auto hole = std::find_if(holes_.rbegin(), holes_.rend(), fits);
    if (hole == holes_.rend()) return std::nullopt;
    return AddressRange{hole->second - bytes, hole->second};
  }
  const auto hole = std::find_if(holes_.begin(), holes_.end(), fits);
  if (hole == holes_.end()) return std::nullopt;
  return AddressRange{hole->first, hole->first + bytes};
}

std::optional<AddressRange> FreeList::place(std::uint64_t bytes) {
  const auto place = find(bytes);
  if (place) take(*place);
  return place;
}

void FreeList::take(AddressRange range) {
  const auto above = holes_.upper_bound(range.begin);
  TTMEM_CHECK(above != holes_.begin());  // a cure that takes what is held would be a lie
  const auto hole = std::prev(above);
  TTMEM_CHECK(range.begin <= range.end && range.end <= hole->second);
  const AddressRange around{hole->first, hole->second};
  holes_.erase(hole);
  if (around.begin < range.begin) holes_.emplace(around.begin, range.begin);
  if (range.end < around.end) holes_.emplace(range.end, around.end);
  free_bytes_ -= range.end - range.begin;
}

std::uint64_t FreeList::largest() const {
  std::uint64_t largest = 0;
  for (const auto& [begin, end] : holes_) largest = std::max(largest, end - begin);
  return largest;
}

std::uint64_t FreeList::lowest_held() const {
  const bool is_free = !holes_.empty() && holes_.begin()->first == bottom_;
  return is_free ? holes_.begin()->second : bottom_;
}

std::uint64_t FreeList::hole_without(AddressRange range) const {
  std::uint64_t bytes = range.end - range.begin;
  const auto above = holes_.lower_bound(range.begin);
  if (above != holes_.end() && above->first == range.end) bytes += above->second - above->first;
  if (above == holes_.begin()) return bytes;
  const auto below = std::prev(above);
  return below->second == range.begin ? bytes + below->second - below->first : bytes;
}

std::vector<AddressRange> FreeList::holes() const {
  std::vector<AddressRange> holes;
  for (const auto& [begin, end] : holes_) holes.push_back({begin, end});
  return holes;
}

}  // namespace ttmem::explain
