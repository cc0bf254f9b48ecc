// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ttmem::client {

void TickClock::start() {
#if defined(__x86_64__)
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariantTsc = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  tsc_ = __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0;
#endif
}

// The wall clock between two ticks, so the ticks are at most half a call away from it.
segment::Clock TickClock::anchor() const {
  segment::Clock clock = {};
  clock.kind = static_cast<std::uint32_t>(tsc_ ? segment::ClockKind::kTsc
                                               : segment::ClockKind::kMonotonicNs);
  const std::uint64_t before = now();
  clock.monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
  clock.ticks = before + (now() - before) / 2;
  clock.wall_ns = nanoseconds(CLOCK_REALTIME);
  return clock;
}

}  // namespace ttmem::client
