// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which program ran when, as one reader saw it. Writers keep a counter of launches per workload and
// of replays per trace, and nothing else; who looks at them again and again knows how many came in
// between. So the series costs the writer nothing, and begins when its reader began to look.
//
//   LaunchWatch watch;                 // of one process
//   watch.look(ledger, now, to_time);  // after each look at the process
//   watch.pass(now);                   // after one that found nothing new
//
// What came between two looks is spread evenly over the time between them, up to the last launch,
// whose time the writer tells. Sums are exact.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ledger/process_ledger.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

class LaunchWatch {
 public:
  using ToTime = std::function<TimeNs(Ticks)>;

  void look(const ProcessLedger& ledger, TimeNs now, const ToTime& to_time);
  void pass(TimeNs now);

  // Before the first look nothing is known.
  TimeNs since() const { return since_; }

  // One workload, and the traces that replay one of its programs. Empty: it is not watched.
  std::optional<LaunchSeries> series(std::uint64_t workload,
                                     const std::vector<std::uint64_t>& traces) const;
  // Traces that live, or lived so lately that their replays are remembered: visit(id, members).
  void for_each_trace(const std::function<void(std::uint64_t, ListId)>& visit) const;

 private:
  struct Second {
    std::uint32_t number = 0;  // since the epoch
    std::uint32_t launches = 0;
    std::uint8_t marks = 0;
  };
  struct Watched {
    std::uint64_t count = 0, reloads = 0;
    bool in_ring = false;
    ListId members = 0;           // of a trace
    std::uint64_t round = 0;      // of the last look that found it
    std::vector<Second> seconds;  // ascending, none older than the window
  };
  using Series = std::unordered_map<std::uint64_t, Watched>;

  Watched* find(Series& all, std::uint64_t id);
  void take(const LaunchCount& count, Watched& watched, TimeNs now, const ToTime& to_time) const;
  static Second& second_of(Watched& watched, TimeNs time);
  static void spread(Watched& watched, std::uint64_t launches, TimeNs from, TimeNs to);
  static void forget_before(Watched& watched, std::uint32_t second);

  Series workloads_, traces_;
  TimeNs since_ = 0, looked_ = 0;
  std::uint64_t round_ = 0;
};

}  // namespace ttmem::ledger
