// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The lock of a recorder: zero bytes, so a page that fork wiped holds a free one. Spins briefly,
// then sleeps in the kernel. Whoever holds it calls nothing that could wait.
//
// Giving it back is a plain store and a look at the number of sleepers, half the price of an atomic
// exchange. The processor may look before its store is visible and miss a thread that is just going
// to sleep: so nobody sleeps longer than a millisecond without looking again.
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
    state_.store(kFree, std::memory_order_release);
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake();
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1;
  void wait();
  void wake();
  std::atomic<std::uint32_t> state_{kFree};
  std::atomic<std::uint32_t> sleepers_{0};
};

class LockGuard {
 public:
  explicit LockGuard(ShortLock& lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  ShortLock& lock_;
};

}  // namespace ttmem::client
