// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The addresses that the buffers of one allocator take in each bank of one space, and what is left
// between them.
//
// Changes are cheap notes; the sorted list is brought up to date when somebody asks, by one merge:
//
//   sorted   [..][....]   [..]        n ranges, by begin
//   added    [..] [..]                k notes
//   removed       [....]
//
// so that a million allocations cost a million appends and one sort, and a few changes to a large
// map cost one pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ttmem::ledger {

struct AddressRange {
  std::uint64_t begin = 0, end = 0;  // end is one past the last byte
  friend auto operator<=>(const AddressRange&, const AddressRange&) = default;
};

// Sorted, without overlaps, touching ranges joined, empty ones left out.
std::vector<AddressRange> merged(std::vector<AddressRange> ranges);
// Adds one range to such a list; cheap where the list covers it already.
void merge_into(std::vector<AddressRange>& merged_ranges, AddressRange range);
std::uint64_t total_bytes(std::span<const AddressRange> merged_ranges);
// 0 if there is none.
inline std::uint64_t end_of(std::span<const AddressRange> merged_ranges) {
  return merged_ranges.empty() ? 0 : merged_ranges.back().end;
}

class AddressMap {
 public:
  void add(AddressRange range);
  void remove(AddressRange range);  // one that was added

  // Every range, by begin; equal ranges stand there as often as they were added.
  const std::vector<AddressRange>& ranges() const;
  std::optional<std::uint64_t> lowest() const;
  // The longest stretch of [base, base + bytes) that neither a range nor one of `others` touches.
  std::uint64_t largest_free(std::uint64_t base, std::uint64_t bytes,
                             std::span<const AddressRange> others = {}) const;

 private:
  struct Answer {
    std::uint64_t base = 0, bytes = 0, largest = 0;
  };

  void settle() const;

  mutable std::vector<AddressRange> sorted_, added_, removed_;
  mutable std::optional<Answer> answer_;  // the last one, while nothing changes
};

}  // namespace ttmem::ledger
