// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/address_map.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::size_t kFewNotes = 4096;
constexpr std::size_t kFewRanges = 8;

std::uint64_t largest_gap(std::uint64_t base, std::uint64_t end,
                          std::span<const AddressRange> sorted) {
  std::uint64_t largest = 0, cursor = base;
  for (const AddressRange& range : sorted) {
    if (range.begin >= end) break;
    if (range.begin > cursor) largest = std::max(largest, range.begin - cursor);
    cursor = std::max(cursor, range.end);
  }
  return cursor < end ? std::max(largest, end - cursor) : largest;
}

}  // namespace

std::vector<AddressRange> merged(std::vector<AddressRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<AddressRange> result;
  for (const AddressRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

void merge_into(std::vector<AddressRange>& merged_ranges, AddressRange range) {
  if (range.begin >= range.end) return;
  // The first range that touches the new one, and the first one beyond it.
  auto first = merged_ranges.begin();
  if (merged_ranges.size() > kFewRanges) {
    first = std::lower_bound(first, merged_ranges.end(), range.begin,
                             [](const AddressRange& r, std::uint64_t at) { return r.end < at; });
  } else {
    while (first != merged_ranges.end() && first->end < range.begin) ++first;
  }
  if (first == merged_ranges.end() || range.end < first->begin) {
    merged_ranges.insert(first, range);
    return;
  }
  if (first->begin <= range.begin && range.end <= first->end) return;
  auto last = first;
  while (last != merged_ranges.end() && last->begin <= range.end) {
    range.end = std::max(range.end, last->end);
    ++last;
  }
  first->begin = std::min(first->begin, range.begin);
  first->end = range.end;
  merged_ranges.erase(first + 1, last);
}

std::uint64_t total_bytes(std::span<const AddressRange> merged_ranges) {
  std::uint64_t sum = 0;
  for (const AddressRange& range : merged_ranges) sum = ledger::add(sum, range.end - range.begin);
  return sum;
}

// What goes and comes back at once, as addresses do that are used again, changes nothing.
void AddressMap::add(AddressRange range) {
  if (!removed_.empty() && removed_.back() == range) {
    removed_.pop_back();
    return;
  }
  added_.push_back(range);
}

void AddressMap::remove(AddressRange range) {
  if (!added_.empty() && added_.back() == range) {
    added_.pop_back();
    return;
  }
  removed_.push_back(range);
  // Without a question in between, notes must not outgrow what they describe.
  if (removed_.size() > kFewNotes + (sorted_.size() + added_.size()) / 2) settle();
}

const std::vector<AddressRange>& AddressMap::ranges() const {
  settle();
  return sorted_;
}

std::optional<std::uint64_t> AddressMap::lowest() const {
  settle();
  if (sorted_.empty()) return std::nullopt;
  return sorted_.front().begin;
}

std::uint64_t AddressMap::largest_free(std::uint64_t base, std::uint64_t bytes,
                                       std::span<const AddressRange> others) const {
  settle();
  const std::uint64_t end = ledger::add(base, bytes);
  if (!others.empty()) {
    std::vector<AddressRange> all(sorted_);
    all.insert(all.end(), others.begin(), others.end());
    std::sort(all.begin(), all.end());
    return largest_gap(base, end, all);
  }
  if (!answer_ || answer_->base != base || answer_->bytes != bytes) {
    answer_ = Answer{base, bytes, largest_gap(base, end, sorted_)};
  }
  return answer_->largest;
}

void AddressMap::settle() const {
  if (added_.empty() && removed_.empty()) return;
  answer_.reset();
  std::sort(added_.begin(), added_.end());
  std::sort(removed_.begin(), removed_.end());
  if (sorted_.empty() && removed_.empty()) return sorted_.swap(added_);
  std::vector<AddressRange> all;
  all.reserve(sorted_.size() + added_.size() - removed_.size());
  auto old = sorted_.begin(), fresh = added_.begin(), gone = removed_.begin();
  while (old != sorted_.end() || fresh != added_.end()) {
    const bool take_old = fresh == added_.end() || (old != sorted_.end() && *old <= *fresh);
    const AddressRange& next = take_old ? *old++ : *fresh++;
    if (gone != removed_.end() && *gone == next) {
      ++gone;
    } else {
      all.push_back(next);
    }
  }
  TTMEM_DCHECK(gone == removed_.end());  // only what was added is removed
  sorted_ = std::move(all);
  added_.clear();
  removed_.clear();
}

}  // namespace ttmem::ledger
