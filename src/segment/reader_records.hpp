// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Versioned records. A pread is not atomic, so nothing is believed that was read once: a record
// starts with a version that is odd while its writer is inside, and is settled when two reads agree
// and the version is even.
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "segment/format.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"

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

// How often a reader may still wait for writers that stand in the middle of a record. Each time it
// gives the processor away, and on a busy machine gets it back only after a while. Whoever looks at
// the files of several owners gives each of them a share.
class Patience {
 public:
  static constexpr std::uint32_t kMost = 64;
  static std::uint32_t& left() {
    thread_local std::uint32_t left = kMost;
    return left;
  }
  static bool wait() {
    if (left() == 0) return false;
    --left();
    ::sched_yield();
    return true;
  }
};

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
    if (tries > 4 && !Patience::wait()) break;  // the writer may need the processor to finish
  }
  return Settled::kNo;
}

template <typename T>
Settled read_settled(const ReadOnlyFile& file, std::uint64_t offset, T& into) {
  T before;
  return read_settled(file, offset, into, before);
}

// Devices, device sets, allocators and ring managers: few versioned records that rarely change. One
// read finds out which ones differ from what is known; only those are read until they are settled.
template <typename T>
class RecordReader {
 public:
  explicit RecordReader(const SectionPlace& place) : place_(place) {}

  // Records that never change are looked at only while there are new ones.
  template <typename Visit>
  bool update_new(const ReadOnlyFile& file, std::uint32_t count, Visit&& visit) {
    if (!known_.empty() && count + 1 == known_.size() && known_.back().version != 0) return true;
    return update(file, count, visit);
  }

  // Calls visit(index, record) for each of the records 1..count that is new or changed. One that is
  // being written is left for the next time. False: the file cannot be read.
  template <typename Visit>
  bool update(const ReadOnlyFile& file, std::uint32_t count, Visit&& visit) {
    if (count == 0) return true;
    if (count >= place_.entries) return false;
    known_.resize(std::size_t{count} + 1);
    raw_.resize(count * place_.entry_bytes);
    if (!file.read(place_.at(1), raw_.data(), raw_.size())) return false;
    for (std::uint32_t index = 1; index <= count; ++index) {
      const void* now = raw_.data() + (index - 1) * place_.entry_bytes;
      if (std::memcmp(now, &known_[index], sizeof(T)) == 0) continue;
      T record;
      const Settled settled = read_settled(file, place_.at(index), record);
      if (settled == Settled::kUnreadable) return false;
      if (settled == Settled::kNo || std::memcmp(&record, &known_[index], sizeof(T)) == 0) continue;
      known_[index] = record;
      visit(index, known_[index]);
    }
    return true;
  }

  // The last known state of a record; all zero if it was never read.
  const T& operator[](std::uint32_t index) const {
    static const T kNothing{};
    return index < known_.size() ? known_[index] : kNothing;
  }
  std::uint32_t count() const {
    return known_.empty() ? 0 : static_cast<std::uint32_t>(known_.size() - 1);
  }

 private:
  SectionPlace place_;
  std::vector<T> known_;
  std::vector<char> raw_;
};

}  // namespace ttmem::segment
