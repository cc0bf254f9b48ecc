// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What really lies in a ring: the last writer of each stretch of bytes. The queue forgets an entry
// when it is free; its bytes stay until they are overwritten, and that is what an eviction is.
#pragma once

#include <cstdint>

namespace ttmem::client {

class RingContents {
 public:
  // A slice of `workload` is written. Calls evicted(other) for each slice it destroys, in whole or
  // in part, that belongs to another workload.
  template <class Evicted>
  void write(std::uint32_t begin, std::uint32_t end, std::uint64_t workload, Evicted evicted) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Slice slice = slices_[i];
      const bool overwritten = slice.begin < end && begin < slice.end;
      if (overwritten && slice.workload != workload) evicted(slice.workload);
      if (!overwritten && slice.workload != workload) slices_[kept++] = slice;
    }
    count_ = kept;
    if (count_ == kSlices) {  // more slices than are remembered: the oldest one is given up
      evicted(slices_[0].workload);
      for (std::uint32_t i = 1; i < kSlices; ++i) slices_[i - 1] = slices_[i];
      --count_;
    }
    slices_[count_++] = {begin, end, workload};
  }

  template <class Evicted>
  void write_all(Evicted evicted) {
    for (std::uint32_t i = 0; i < count_; ++i) evicted(slices_[i].workload);
    count_ = 0;
  }

  bool holds(std::uint64_t workload) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (slices_[i].workload == workload) return true;
    }
    return false;
  }

  void clear() { count_ = 0; }

 private:
  static constexpr std::uint32_t kSlices = 64;
  struct Slice {
    std::uint32_t begin, end;
    std::uint64_t workload;
  };
  std::uint32_t count_;
  Slice slices_[kSlices];
};

}  // namespace ttmem::client
