// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/clock.hpp"

#include <algorithm>
#include <cmath>
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

std::uint64_t read_tsc() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

constexpr int kReadings = 3;
}  // namespace

std::uint64_t processor_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

// One clock after the other: whoever is interrupted in between has read clocks of different
// moments. So the closest of some readings is taken, and the ticks in its middle.
Moment Moment::now() {
  Moment moment;
  std::uint64_t closest = ~std::uint64_t{0};
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = read_tsc();
    const std::uint64_t monotonic_ns = read_clock(CLOCK_MONOTONIC);
    const std::uint64_t wall_ns = read_clock(CLOCK_REALTIME);
    const std::uint64_t took = read_tsc() - before;
    if (took >= closest) continue;
    closest = took;
    moment = {before + took / 2, monotonic_ns, wall_ns};
  }
  return moment;
}

Moment between(const Moment& low, const Moment& high, double part) {
  const auto on_the_way = [part](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t length = std::max(from, to) - from;
    return from + static_cast<std::uint64_t>(std::llround(static_cast<double>(length) * part));
  };
  return {on_the_way(low.tsc, high.tsc), on_the_way(low.monotonic_ns, high.monotonic_ns),
          on_the_way(low.wall_ns, high.wall_ns)};
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
