// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Records as columns: what one field says in all records stands together, as the difference to the
// record before where that is smaller, with the lowest bytes of all first. A loop that allocates
// and frees the same things again and again then shrinks to a few bytes a record.
//
//   number slot meta id a b time set allocator cores operation origin    72 bytes a record, plain
//     Δ-1    -    -   Δ - -  Δ    -      -       -       -       -       Δ as zigzag
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "segment/format_slot.hpp"

namespace ttmem::recording {

// An event, or the content of a slot and the event that wrote it.
struct SlotRecord {
  std::uint64_t number = 0;
  std::uint32_t slot = 0;
  segment::Payload payload{};
};

// When the event happened, in ticks; 0 = it does not say.
std::uint64_t ticks_of(const segment::Payload& payload);

inline constexpr std::size_t kPackedRecordBytes = 8 + 4 + sizeof(segment::Payload);

// Appends the columns.
void pack_columns(std::span<const SlotRecord> records, std::vector<std::byte>& into);

// `columns` must have kPackedRecordBytes for each of `count` records; false if not.
bool unpack_columns(std::span<const std::byte> columns, std::size_t count,
                    std::vector<SlotRecord>& into);

}  // namespace ttmem::recording
