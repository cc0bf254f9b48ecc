// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the content of a code object comes to, by its address, for releases whose code objects have
// no number of their own (before 3.12). An address means one object only until that is freed, and
// Python frees code objects in one place: the function that its type names. Ours stands before it
// and forgets the object. So what is found here is a live code object, and needs not be looked at.
//
// Threads read and write without a lock: an entry binds its digest to its address, so a mixture of
// two is no entry. Nobody frees a code object that a thread is running, so it is not forgotten
// while that thread adds it.
//
// For a whole stack that is still one look-up a frame. So there is an age, too: a number that
// changes when an object is freed that was seen in a stack. As long as it is the same, the
// addresses of a stack are its objects.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/frames/layout.hpp"

namespace ttmem::inject::frames {

class CodeDigests {
 public:
  /// Begins to follow the code objects of this type. With Python's lock held; at most once.
  void follow(Address code_type);

  /// False: not known, or somebody has put another function in the place of ours.
  [[gnu::always_inline]] bool find(Address code, std::uint64_t& digest) const {
    const Entry& entry = entries_[place_of(code)];
    const std::uint64_t found = __atomic_load_n(&entry.digest, __ATOMIC_RELAXED);
    const std::uint64_t check = __atomic_load_n(&entry.check, __ATOMIC_RELAXED);
    digest = found;
    return bind(code, found) == check && found != 0;
  }
  /// Whether addresses can be relied on: asked once for each stack.
  bool are_followed() const {
    return confirmed_.load(std::memory_order_acquire) &&
           __atomic_load_n(place_, __ATOMIC_RELAXED) == &ended;
  }
  void put(Address code, std::uint64_t digest);

  /// Ask before `see`: what is kept under an age is void once one of its objects is freed.
  std::uint64_t age() const { return age_.load(std::memory_order_acquire); }
  void see(Address code) {
    const std::size_t bit = mark_of(code);
    const std::uint64_t mark = std::uint64_t{1} << bit % 64;
    std::atomic<std::uint64_t>& marks = marks_[bit / 64];
    if ((marks.load(std::memory_order_relaxed) & mark) == 0) {
      marks.fetch_or(mark, std::memory_order_relaxed);
    }
  }

 private:
  using Free = void (*)(void*);
  struct Entry {
    std::uint64_t digest;
    std::uint64_t check;
  };
  static constexpr std::size_t kPlaces = 1u << 12;
  static constexpr std::size_t kMarks = 1u << 14;
  static constexpr std::uint64_t kNextAge = 0x9E3779B97F4A7C15u;  // never near an earlier one

  static std::size_t place_of(Address code) { return (code >> 4 ^ code >> 16) % kPlaces; }
  static std::uint64_t bind(Address code, std::uint64_t digest) {
    return (code ^ digest) * 0x9E3779B97F4A7C15u + digest;
  }
  static std::size_t mark_of(Address code) { return code * kNextAge >> (64 - 14); }
  static_assert(kMarks == std::size_t{1} << 14);
  static void ended(void* code);  // what Python calls
  void forget(Address code);
  void grow_older();

  Free* place_ = nullptr;  // in the type
  Free original_ = nullptr;
  std::atomic<bool> confirmed_{false};  // ours was called: Python does use the place
  std::atomic<std::uint64_t> age_{kNextAge};
  std::atomic<std::uint64_t> marks_[kMarks / 64] = {};  // of code objects in stacks of this age
  Entry entries_[kPlaces] = {};
};

extern constinit CodeDigests code_digests;

}  // namespace ttmem::inject::frames
