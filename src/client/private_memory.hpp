// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Memory that only the recorder uses. It never comes from malloc: hosts replace malloc, count it,
// and fork while it is locked. An address range is reserved once and made ready from its start, in
// steps and ahead of need, so that using it cannot fault. A forked child does not get it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ttmem::client {

class PrivateMemory {
 public:
  // Reserves addresses, no memory. False if the host's limits forbid it.
  bool reserve(std::uint64_t bytes);
  // Makes the first `bytes` ready. Calls the system: never under the recorder's lock.
  bool prepare(std::uint64_t bytes);
  void give_back();

  std::byte* base() const { return base_; }
  std::uint64_t reserved() const { return reserved_; }
  std::uint64_t ready() const { return ready_.load(std::memory_order_acquire); }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t reserved_ = 0;
  std::atomic<std::uint64_t> ready_{0};
};

// An array in such memory whose elements never move. Elements start as zeros.
template <class T>
class PrivateArray {
 public:
  bool reserve(std::uint64_t count) { return memory_.reserve(count * sizeof(T)); }
  bool prepare(std::uint64_t count) { return memory_.prepare(count * sizeof(T)); }
  void give_back() { memory_.give_back(); }
  std::uint64_t ready() const { return memory_.ready() / sizeof(T); }
  bool is_ready(std::uint64_t index) const { return (index + 1) * sizeof(T) <= memory_.ready(); }
  std::uint64_t reserved() const { return memory_.reserved() / sizeof(T); }
  T* data() const { return reinterpret_cast<T*>(memory_.base()); }
  T& operator[](std::uint64_t index) const { return data()[index]; }

 private:
  PrivateMemory memory_;
};

// Elements by index, taken and put back; index 0 is never used, so 0 can mean "none". Only for the
// cold path: taking one may call the system. T has a std::uint32_t member `next`.
template <class T>
class PrivatePool {
 public:
  bool reserve(std::uint32_t count) {
    used_ = 1;
    return items_.reserve(count) && items_.prepare(ahead());
  }
  std::uint32_t take() {
    std::uint32_t index = free_;
    if (index != 0) {
      free_ = items_[index].next;
    } else {
      if (used_ >= items_.reserved()) return 0;
      if (used_ >= items_.ready() && !items_.prepare(used_ + ahead())) return 0;
      index = used_++;
    }
    items_[index].next = 0;
    return index;
  }
  void put_back(std::uint32_t index) {
    items_[index].next = free_;
    free_ = index;
  }
  void give_back() { items_.give_back(); }
  T& operator[](std::uint32_t index) const { return items_[index]; }
  std::uint32_t used() const { return used_; }  // indices 1..used-1 were taken at some time
  bool holds(std::uint32_t index) const { return index < items_.ready(); }

 private:
  static constexpr std::uint32_t ahead() { return 4096 / sizeof(T) + 1; }  // made ready at once
  PrivateArray<T> items_;
  std::uint32_t used_ = 0;
  std::uint32_t free_ = 0;
};

}  // namespace ttmem::client
