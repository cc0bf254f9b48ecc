// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/clock.hpp"

#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ttmem::collect {

namespace {

std::uint64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

Moment Moment::now() {
  Moment moment;
  moment.monotonic_ns = read_clock(CLOCK_MONOTONIC);
#if defined(__x86_64__)
  moment.tsc = __rdtsc();
#endif
  moment.wall_ns = read_clock(CLOCK_REALTIME);
  return moment;
}

TickClock::TickClock(const segment::Clock& stored, const Moment& now, bool same_boot)
    : monotonic_now_(now.monotonic_ns),
      wall_now_(now.wall_ns),
      wall_stored_(stored.wall_ns),
      monotonic_stored_(stored.monotonic_ns) {
  if (!same_boot) return;
  if (stored.kind == static_cast<std::uint32_t>(segment::ClockKind::kMonotonicNs)) {
    ticks_now_ = now.monotonic_ns;
    ns_per_tick_ = 1;
  } else if (now.tsc > stored.ticks && now.monotonic_ns > stored.monotonic_ns) {
    ticks_now_ = now.tsc;
    ns_per_tick_ = static_cast<double>(now.monotonic_ns - stored.monotonic_ns) /
                   static_cast<double>(now.tsc - stored.ticks);
  }
}

ledger::TimeNs TickClock::wall(std::uint64_t ticks) const {
  if (ticks == 0) return 0;
  if (ns_per_tick_ == 0) return wall_stored_;
  if (ticks >= ticks_now_) return wall_now_;
  const double ago = static_cast<double>(ticks_now_ - ticks) * ns_per_tick_;
  if (ago >= static_cast<double>(wall_now_)) return wall_stored_;
  return wall_now_ - static_cast<std::uint64_t>(ago);
}

std::uint64_t TickClock::ticks(std::uint64_t monotonic_ns) const {
  if (monotonic_ns == 0 || ns_per_tick_ == 0) return monotonic_ns;
  if (monotonic_ns >= monotonic_now_) return ticks_now_;
  const double ago = static_cast<double>(monotonic_now_ - monotonic_ns) / ns_per_tick_;
  return ago < static_cast<double>(ticks_now_) ? ticks_now_ - static_cast<std::uint64_t>(ago) : 1;
}

}  // namespace ttmem::collect
