// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Devices, device sets, allocators and ring managers: few versioned records that rarely change. One
// read finds out which ones differ from what is known; only those are read until they are settled.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "segment/format.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"
#include "segment/reader_settled.hpp"

namespace ttmem::segment {

template <typename T>
class RecordReader {
 public:
  explicit RecordReader(const Part& part) : part_(part) {}

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
    if (count >= part_.entries) return false;
    known_.resize(std::size_t{count} + 1);
    raw_.resize(count * part_.entry_bytes);
    if (!file.read(part_.at(1), raw_.data(), raw_.size())) return false;
    for (std::uint32_t index = 1; index <= count; ++index) {
      const void* now = raw_.data() + (index - 1) * part_.entry_bytes;
      if (std::memcmp(now, &known_[index], sizeof(T)) == 0) continue;
      T record;
      const Settled settled = read_settled(file, part_.at(index), record);
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
  Part part_;
  std::vector<T> known_;
  std::vector<char> raw_;
};

}  // namespace ttmem::segment
