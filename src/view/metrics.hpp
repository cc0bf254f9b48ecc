// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A snapshot in the text format of Prometheus (docs/metrics.md lists every metric). A figure that
// is not known is absent, never 0. There is nothing per core: 32 chips have thousands of them, and
// a time series each is what a monitoring system cannot carry; ask the JSON for cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "explain/leaks.hpp"
#include "ledger/figure_table.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::view {

// Which series are told; those of the daemon itself always are.
struct MetricsOptions {
  bool devices = true;       // every figure of every device, and the counts of processes
  bool per_process = false;  // those of each live process too: many, so only on request
  bool in_short = false;     // of devices, eight series each
  bool jobs = true;          // a dozen series for each job
};

// What a scraper chose: device, process, job, short (collect[]=… of its request). Another word is
// refused.
Result<MetricsOptions> metrics_options(const std::vector<std::string>& collected);

// Series per process are told for so many pairs of process and device. A monitoring system must
// survive a host on which somebody starts thousands of processes.
inline constexpr std::size_t kMostProcessPairs = 4096;

// What the one who tells costs itself.
struct SelfFigures {
  std::uint64_t started_ns = 0;      // since 1970; 0 = not known
  double cpu_seconds = 0;            // user and system, since the start
  std::uint64_t resident_bytes = 0;  // now
  double refresh_seconds = 0;        // spent in reading sources, since the start
  std::uint64_t refreshes = 0;       // how often they were read
  std::uint64_t snapshots = 0;       // how many of them differed from the one before
  std::uint64_t connections = 0;     // open now
  std::uint64_t requests = 0;        // answered, since the start
  std::uint64_t dropped = 0;         // readers that were too slow, since the start
  std::uint64_t history_bytes = 0;   // size of the history file
  std::uint64_t history_lost = 0;    // rows that could not be written
  double loop_pause_seconds = 0;     // the longest that one thing made all others wait
  double loop_cpu_seconds = 0;       // the same, as time on a core
  double work_cpu_seconds = 0;       // the most that one look or answer took of a core
};

// Makes counters of what the processes count: a process that is forgotten takes its launches, its
// failures and its death with it, and a counter may not fall. One lives as long as the one who
// tells.
class CounterMemory {
 public:
  static constexpr auto kKinds = static_cast<std::size_t>(std::ranges::count_if(
      ledger::figure_table::kOfKernels,
      [](const auto& figure) { return figure.row.metric == ledger::Metric::kLaunches; }));
  using Counts = std::array<ledger::Figure, kKinds>;

  // Takes what the processes launched, what failed and who died since the last call.
  void observe(const ledger::Snapshot& snapshot);
  std::uint64_t failures() const { return failures_; }
  std::uint64_t deaths() const { return deaths_; }
  // Of a device since the start; empty: not known.
  Counts totals(std::uint64_t unique_id) const;

 private:
  using Launcher = std::tuple<std::int32_t, std::uint64_t, std::string, std::uint64_t>;
  std::map<Launcher, Counts> seen_;  // of the processes in the latest snapshot, by device
  std::map<std::uint64_t, Counts> totals_;

  struct Life {
    std::uint64_t failures = 0;
    bool died = false;
  };
  using Who = std::tuple<std::int32_t, std::uint64_t, std::string>;
  std::map<Who, Life> lives_;  // of the processes in the latest snapshot
  std::uint64_t failures_ = 0, deaths_ = 0;

  void observe_lives(const ledger::Snapshot& snapshot);
};

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// Lets `memory` observe the snapshot first. `leaks`: what grows, of the processes in the snapshot.
std::string metrics_text(const ledger::Snapshot& snapshot, const MetricsOptions& options,
                         const SelfFigures& self, CounterMemory& memory,
                         const explain::LeakReport& leaks = {});

}  // namespace ttmem::view
