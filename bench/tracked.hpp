// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A tracked program in a directory of its own, and how its calls are timed.
#pragma once

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "../tests/support/devices.hpp"
#include "../tests/support/temporary_directory.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::bench {

inline std::uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// One directory for all segments of an executable, removed at the end.
inline void use_own_directory() {
  static const support::TemporaryDirectory directory;
  [[maybe_unused]] static const int once = setenv("TTMEM_DIR", directory.path().c_str(), 1);
}

// An allocator of 12 DRAM banks on a set of `devices` chips; one for each number of chips.
inline ttmem_set_t set_of(std::uint16_t devices) {
  use_own_directory();
  static std::map<std::uint16_t, ttmem_set_t> sets;
  if (const auto known = sets.find(devices); known != sets.end()) return known->second;
  std::vector<ttmem_device_t> chips;
  for (std::uint16_t i = 0; i < devices; ++i) {
    chips.push_back(support::open_device(100u + i));
  }
  return sets[devices] = support::open_set(chips);
}

inline ttmem_allocator_t open_allocator(ttmem_set_t set) { return support::open_dram(set); }

inline void allocate(ttmem_allocator_t allocator, std::uint64_t id) {
  support::allocate(allocator, id, 2048);
}

inline double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

// Median over batches (a clock read costs as much as a call), percentiles over single calls less
// the cost of the clock.
class Timing {
 public:
  static constexpr int kBatch = 64;

  template <class Call>
  void batch(Call call) {
    const std::uint64_t start = now_ns();
    for (int i = 0; i < kBatch; ++i) call(i);
    batches_.push_back(static_cast<double>(now_ns() - start) / kBatch);
  }
  template <class Call>
  void singles(Call call) {
    for (int i = 0; i < kBatch; ++i) {
      const std::uint64_t start = now_ns();
      call(i);
      singles_.push_back(static_cast<double>(now_ns() - start));
    }
  }
  double median() { return percentile(batches_, 0.5); }
  double p999() { return std::max(0.0, percentile(singles_, 0.999) - clock_cost()); }

 private:
  static double clock_cost() {
    static const double cost = [] {
      std::vector<double> costs;
      for (int i = 0; i < 10000; ++i) {
        const std::uint64_t start = now_ns();
        costs.push_back(static_cast<double>(now_ns() - start));
      }
      return percentile(costs, 0.5);
    }();
    return cost;
  }
  std::vector<double> batches_;
  std::vector<double> singles_;
};

// Launches of a workload that is loaded, in as many rounds as there are.
template <class Rounds>
Timing time_launches(Rounds& rounds, std::uint16_t devices) {
  static std::uint64_t id = 0;
  const ttmem_workload_t workload = ttmem_workload_created(++id, set_of(devices));
  ttmem_dispatched(workload, 0, 0, 0);
  Timing timing;
  for ([[maybe_unused]] auto round : rounds) {
    timing.batch([&](int) { ttmem_dispatched(workload, 0, 0, 0); });
    timing.singles([&](int) { ttmem_dispatched(workload, 0, 0, 0); });
  }
  ttmem_workload_released(workload);
  return timing;
}

}  // namespace ttmem::bench
