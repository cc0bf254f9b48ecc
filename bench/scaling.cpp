// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The recorder with very many holdings: cost of a call against what the memory itself costs, the
// longest pause on the way up, and memory a holding.
#include <fstream>
#include <numeric>
#include <random>

#include <benchmark/benchmark.h>

#include "tracked.hpp"

namespace ttmem::bench {
namespace {

struct alignas(64) Line {
  std::uint64_t next;
};

// Two dependent random cache lines: the least that finding and changing a holding can cost.
double random_touch_ns(std::uint64_t count) {
  std::mt19937_64 random(1);
  std::vector<Line> first(count), second(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    first[i].next = random() % count;
    second[i].next = random() % count;
  }
  constexpr int kTouches = 1'000'000;
  std::uint64_t at = 0;
  const std::uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kTouches; ++i) {
    const std::uint64_t there = first[at].next;
    at = (second[there].next += 1) % count;
  }
  benchmark::DoNotOptimize(at);
  return static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / kTouches;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// An allocator filled to `count`; ids of live buffers by place.
class Filled {
 public:
  explicit Filled(std::uint64_t count) : ids_(count) {
    std::iota(ids_.begin(), ids_.end(), 1);
    const std::uint64_t before = resident_bytes();
    allocator_ = open_allocator(set_of(1));
    constexpr std::uint64_t kBatch = 16;
    for (std::uint64_t i = 0; i < count; i += kBatch) {
      const std::uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
      for (std::uint64_t k = i; k < std::min(i + kBatch, count); ++k) {
        allocate(allocator_, ids_[k] * 4096);
      }
      longest_ns_ = std::max(longest_ns_, now_ns(CLOCK_THREAD_CPUTIME_ID) - start);
    }
    bytes_a_holding_ = static_cast<double>(resident_bytes() - before) / static_cast<double>(count);
  }
  ~Filled() { ttmem_allocator_closed(allocator_); }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;

  // Frees a random holding and makes another one. Returns ns per call.
  double churn() {
    constexpr std::uint64_t kRounds = 500'000;
    std::mt19937_64 random(2);
    const std::uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      std::uint64_t& id = ids_[random() % ids_.size()];
      ttmem_buffer_freed(allocator_, TTMEM_SPACE_DRAM, id * 4096);
      id = ids_.size() + 1 + i;
      allocate(allocator_, id * 4096);
    }
    return static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (2 * kRounds);
  }
  double longest_ms() const { return static_cast<double>(longest_ns_) / 1e6; }
  double bytes_a_holding() const { return bytes_a_holding_; }

 private:
  std::uint64_t longest_ns_ = 0;
  double bytes_a_holding_ = 0;
  ttmem_allocator_t allocator_ = 0;
  std::vector<std::uint64_t> ids_;
};

void scaling(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    Filled filled(count);
    const double call = filled.churn();
    const double touch = random_touch_ns(count);
    state.counters["value"] = call / touch;
    state.counters["limit"] = 4;
    state.counters["pause"] = filled.longest_ms();
    state.counters["pause_limit"] = 1;
    // 2 MiB beside the holdings are allowed to every process.
    const double fixed = 2.0 * 1024 * 1024 / static_cast<double>(count);
    state.counters["memory"] = filled.bytes_a_holding();
    state.counters["memory_limit"] = 128 + fixed;
    state.SetLabel("times; random_touch is " + std::to_string(static_cast<int>(touch)) +
                   " ns; pause: ms of CPU in 16 calls; memory: bytes per holding");
  }
}
BENCHMARK(scaling)->Arg(100'000)->Arg(10'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ttmem::bench
