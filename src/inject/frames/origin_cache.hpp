// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From the key of a stack to its node, in one cache line. Threads read and write it without a lock:
// an entry carries a word that binds its value to its key, so a mixture of two is no entry. What
// does not fit pushes out what is older. A forked child finds it empty, as its recorder is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/frames/stack_key.hpp"

namespace ttmem::inject::frames {

class OriginCache {
 public:
  /// False if there is no memory for it.
  bool open();

  /// True: `value` is what was put there.
  bool find(const StackKey& key, std::uint32_t& value) const {
    const Set& set = sets_[key.high >> kShift];
    for (const Entry& entry : set.entries) {
      const std::uint64_t bound = __atomic_load_n(&entry.bound, __ATOMIC_RELAXED);
      const std::uint64_t high = __atomic_load_n(&entry.high, __ATOMIC_RELAXED);
      const std::uint64_t found = __atomic_load_n(&entry.value, __ATOMIC_RELAXED);
      if (high == key.high && bound == bind(key, found) && found != 0) {
        value = static_cast<std::uint32_t>(found);
        return true;
      }
    }
    return false;
  }
  void put(const StackKey& key, std::uint32_t value) {
    constexpr std::uint64_t kUsed = std::uint64_t{1} << 32;
    Set& set = sets_[key.high >> kShift];
    move(set.entries[0], set.entries[1]);
    const std::uint64_t used = kUsed | value;
    __atomic_store_n(&set.entries[0].high, key.high, __ATOMIC_RELAXED);
    __atomic_store_n(&set.entries[0].value, used, __ATOMIC_RELAXED);
    __atomic_store_n(&set.entries[0].bound, bind(key, used), __ATOMIC_RELAXED);
  }

 private:
  struct Entry {
    std::uint64_t high;
    std::uint64_t bound;
    std::uint64_t value;
    std::uint64_t unused;
  };
  struct alignas(64) Set {
    Entry entries[2];
  };
  static_assert(sizeof(Set) == 64);
  static constexpr unsigned kShift = 51;  // 8,192 sets
  static constexpr std::size_t kSets = std::size_t{1} << (64 - kShift);

  static std::uint64_t bind(const StackKey& key, std::uint64_t value) {
    return key.low ^ value * 0x9E3779B97F4A7C15u;
  }
  static void move(const Entry& from, Entry& to) {
    const std::uint64_t high = __atomic_load_n(&from.high, __ATOMIC_RELAXED);
    const std::uint64_t value = __atomic_load_n(&from.value, __ATOMIC_RELAXED);
    const std::uint64_t bound = __atomic_load_n(&from.bound, __ATOMIC_RELAXED);
    __atomic_store_n(&to.high, high, __ATOMIC_RELAXED);
    __atomic_store_n(&to.value, value, __ATOMIC_RELAXED);
    __atomic_store_n(&to.bound, bound, __ATOMIC_RELAXED);
  }

  Set* sets_ = nullptr;
};

}  // namespace ttmem::inject::frames
