// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The lock of a recorder: four zero bytes, so a page that fork wiped holds a free one. Spins
// briefly, then sleeps in the kernel. Whoever holds it calls nothing that could wait.
#pragma once

#include <atomic>
#include <cstdint>

namespace ttmem::client {

class ShortLock {
 public:
  void lock() {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]] {
      wait();
    }
  }
  bool try_lock() {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]] {
      wake();
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kWanted = 2;
  void wait();
  void wake();
  std::atomic<std::uint32_t> state_{kFree};
};

class Holding {
 public:
  explicit Holding(ShortLock& lock) : lock_(lock) { lock_.lock(); }
  ~Holding() { lock_.unlock(); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  ShortLock& lock_;
};

}  // namespace ttmem::client
