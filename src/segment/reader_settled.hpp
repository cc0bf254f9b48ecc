// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A pread is not atomic, so nothing is believed that was read once. A record starts with a version
// that is odd while its writer is inside; it is settled when two reads agree and the version is
// even.
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstring>

#include "segment/format.hpp"
#include "segment/reader_file.hpp"

namespace ttmem::segment {

// Words of a slot that change outside its version: a, b and time of workloads and traces.
inline bool has_live_words(const Payload& payload) {
  const Kind kind = Meta::kind(payload.meta);
  return kind == Kind::kWorkload || kind == Kind::kTrace;
}

inline bool agree(const Slot& first, const Slot& second) {
  if (!has_live_words(first.payload)) return std::memcmp(&first, &second, sizeof(Slot)) == 0;
  constexpr std::size_t kBefore = offsetof(Slot, payload) + offsetof(Payload, a);
  constexpr std::size_t kAfter = offsetof(Slot, payload) + offsetof(Payload, set);
  const auto* one = reinterpret_cast<const char*>(&first);
  const auto* two = reinterpret_cast<const char*>(&second);
  return std::memcmp(one, two, kBefore) == 0 &&
         std::memcmp(one + kAfter, two + kAfter, sizeof(Slot) - kAfter) == 0;
}

template <typename T>
bool agree(const T& first, const T& second) {
  return std::memcmp(&first, &second, sizeof(T)) == 0;
}

enum class Settled : std::uint8_t { kYes, kNo, kUnreadable };

// Reads one versioned record until it is settled. The live words are those of the last read. Large
// records bring their own room for the other copy.
template <typename T>
Settled read_settled(const ReadOnlyFile& file, std::uint64_t offset, T& into, T& before) {
  if (!file.read(offset, &before, sizeof before)) return Settled::kUnreadable;
  for (std::uint32_t tries = 0; tries < kSettleTries; ++tries) {
    if (!file.read(offset, &into, sizeof into)) return Settled::kUnreadable;
    if (into.version % 2 == 0 && agree(before, into)) return Settled::kYes;
    std::memcpy(&before, &into, sizeof before);
    if (tries > 4) ::sched_yield();  // the writer may need the processor to finish
  }
  return Settled::kNo;
}

template <typename T>
Settled read_settled(const ReadOnlyFile& file, std::uint64_t offset, T& into) {
  T before;
  return read_settled(file, offset, into, before);
}

}  // namespace ttmem::segment
