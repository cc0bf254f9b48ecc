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
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ttmem/ttmem.h"

namespace ttmem::bench {

inline std::uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// One directory for all benchmarks of an executable, removed at the end.
class OwnDirectory {
 public:
  static void use() { static const OwnDirectory directory; }

 private:
  OwnDirectory() {
    std::string name = "/dev/shm/ttmem-bench.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    setenv("TTMEM_DIR", path_.c_str(), 1);
  }
  ~OwnDirectory() { std::filesystem::remove_all(path_); }
  std::string path_;
};

// An allocator of 12 DRAM banks on a set of `devices` chips; one for each number of chips.
inline ttmem_set_t set_of(std::uint16_t devices) {
  OwnDirectory::use();
  static std::map<std::uint16_t, ttmem_set_t> sets;
  if (const auto known = sets.find(devices); known != sets.end()) return known->second;
  std::vector<ttmem_device_t> chips;
  for (std::uint16_t i = 0; i < devices; ++i) {
    ttmem_device_info info = {};
    info.struct_size = sizeof info;
    info.unique_id = 100u + i;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    info.mock = 1;
    chips.push_back(ttmem_device_opened(&info));
  }
  ttmem_set_info info = {};
  info.struct_size = sizeof info;
  info.device_count = devices;
  info.devices = chips.data();
  return sets[devices] = ttmem_device_set(&info);
}

inline ttmem_allocator_t open_allocator(ttmem_set_t set) {
  const ttmem_space_info dram = {TTMEM_SPACE_DRAM, 12, 0, 1ull << 40, 32, 0, nullptr};
  ttmem_allocator_info info = {};
  info.struct_size = sizeof info;
  info.set = set;
  info.space_count = 1;
  info.spaces = &dram;
  return ttmem_allocator_opened(&info);
}

inline void allocate(ttmem_allocator_t allocator, std::uint64_t id) {
  ttmem_buffer buffer = {};
  buffer.id = id;
  buffer.address = id;
  buffer.requested = 2048;
  buffer.block = 2048;
  buffer.allocator = allocator;
  ttmem_buffer_allocated(&buffer);
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

}  // namespace ttmem::bench
