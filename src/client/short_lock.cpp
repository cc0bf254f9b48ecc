// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/short_lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "client/errno_keeper.hpp"

namespace ttmem::client {
namespace {

constexpr int kSpins = 200;
constexpr long kLongestSleepNs = 1'000'000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void ShortLock::wait() {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
    pause_briefly();
  }
  const ErrnoKeeper keeper;
  sleepers_.fetch_add(1);
  while (!try_lock()) {
    const timespec limit = {0, kLongestSleepNs};
    syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kHeld, &limit, nullptr, 0);
  }
  sleepers_.fetch_sub(1);
}

void ShortLock::wake() {
  const ErrnoKeeper keeper;
  syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace ttmem::client
