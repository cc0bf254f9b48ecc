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

// Both clocks between two ticks, so the ticks are at most half of that away from them: the closest
// of some readings, since a process may be interrupted in between.
segment::Clock TickClock::anchor() const {
  segment::Clock clock = {};
  clock.kind = static_cast<std::uint32_t>(tsc_ ? segment::ClockKind::kTsc
                                               : segment::ClockKind::kMonotonicNs);
  std::uint64_t closest = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = now();
    const std::uint64_t monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
    const std::uint64_t wall_ns = nanoseconds(CLOCK_REALTIME);
    const std::uint64_t took = now() - before;
    if (took >= closest) continue;
    closest = took;
    clock.ticks = before + took / 2;
    clock.monotonic_ns = monotonic_ns;
    clock.wall_ns = wall_ns;
  }
  return clock;
}

}  // namespace ttmem::client
