// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The two clocks of a recorder. Ticks (the TSC where it is invariant, else nanoseconds) stamp what
// is recorded. The coarse clock stamps dispatches, which cannot afford the other one.
#pragma once

#include <cstdint>
#include <ctime>

#include "segment/format.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ttmem::client {

inline std::uint64_t nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t coarse_ns() { return nanoseconds(CLOCK_MONOTONIC_COARSE); }

class TickClock {
 public:
  void start();
  std::uint64_t now() const {
#if defined(__x86_64__)
    if (tsc_) [[likely]]
      return __rdtsc();
#endif
    return nanoseconds(CLOCK_MONOTONIC);
  }
  // For the hot path: early() before the lock, at(early) under it. The TSC is read under the lock,
  // beside other work, and times are then in the order of events; a clock that may call the system
  // is read before.
  std::uint64_t early() const { return tsc_ ? 0 : now(); }
  std::uint64_t at(std::uint64_t early) const {
    if (early != 0) [[unlikely]]
      return early;
    return now();
  }
  // One moment on all three clocks, for the header.
  segment::Clock anchor() const;

 private:
  bool tsc_ = false;
};

}  // namespace ttmem::client
