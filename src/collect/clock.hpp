// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From a writer's ticks to wall-clock time. The segment stores one moment at which all clocks were
// read; the reader reads them once more, and everything in between lies on the line through both.
#pragma once

#include <cstdint>

#include "ledger/snapshot.hpp"
#include "segment/format.hpp"

namespace ttmem::collect {

struct Moment {
  std::uint64_t tsc = 0;  // 0 where there is none
  std::uint64_t monotonic_ns = 0;
  std::uint64_t wall_ns = 0;

  static Moment now();
};

// The time that this thread has had on a core.
std::uint64_t processor_ns();

// Between two moments all clocks went evenly: `part` of the way, from 0 to 1.
Moment between(const Moment& low, const Moment& high, double part);

class TickClock {
 public:
  // `same_boot`: the clocks of `now` are the writer's clocks. If not, only the stored moment is
  // known, and every time is that one.
  TickClock(const segment::Clock& stored, const Moment& now, bool same_boot);

  // 0 stays 0. Never later than the `now` it was made with.
  ledger::TimeNs wall(std::uint64_t ticks) const;
  // The ticks of a moment of CLOCK_MONOTONIC, which stamps dispatches and replays. 0 stays 0.
  std::uint64_t ticks(std::uint64_t monotonic_ns) const;
  // CLOCK_MONOTONIC when the writer began.
  std::uint64_t began_monotonic_ns() const { return monotonic_stored_; }

 private:
  std::uint64_t ticks_now_ = 0;
  std::uint64_t monotonic_now_ = 0;
  std::uint64_t wall_now_ = 0;
  std::uint64_t wall_stored_ = 0;
  std::uint64_t monotonic_stored_ = 0;
  double ns_per_tick_ = 0;  // 0: only the stored moment is known
};

}  // namespace ttmem::collect
