// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a look at a busy host costs: 1,000 processes with 1,000 buffers each on one device, in
// segments that were written beforehand. Cold: a reader that knows nothing. Changed: one that was
// there, after 1 % of the holdings were replaced, spread over all processes.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "../tests/segment/reader_directory.hpp"
#include "../tests/segment/segment_builder.hpp"
#include "collect/collector.hpp"

namespace {

using namespace ttmem;
using testing::SegmentBuilder;

constexpr std::uint32_t kProcesses = 1000;
constexpr std::uint32_t kBuffers = 1000;
constexpr std::uint64_t kBlock = 2048;

// All processes are this one as far as lock and /proc say; what differs is the start of the name.
class Host {
 public:
  Host() {
    std::vector<segment::Slot> slots(kBuffers);
    for (std::uint32_t i = 0; i < kBuffers; ++i) {
      slots[i] = {std::uint64_t{i + 1} << 1, buffer(i, i)};
    }
    for (std::uint32_t i = 0; i < kProcesses; ++i) {
      const std::string name = fmt::format("ttmem-{}-{}-{:016x}", i + 1, i, i);
      auto builder = std::make_unique<SegmentBuilder>(directory_ / name);
      builder->header().nonce = i;
      builder->add_usual_device();
      builder->put_table(slots);
      builder->lock();
      processes_.push_back(std::move(builder));
    }
  }

  // Replaces every hundredth buffer of every process.
  void change() {
    ++round_;
    for (const auto& process : processes_) {
      for (std::uint32_t i = round_ % 100; i < kBuffers; i += 100) {
        process->put(i, buffer(i, round_ * kBuffers + i));
      }
    }
  }

  collect::Options options() const {
    collect::Options options;
    options.directories = {directory_.path()};
    return options;
  }

 private:
  static segment::Payload buffer(std::uint32_t slot, std::uint64_t id) {
    return testing::buffer_payload(id + 1, 4096 + slot * 2 * kBlock, kBlock, slot % 2);
  }

  testing::OwnDirectory directory_;
  std::vector<std::unique_ptr<SegmentBuilder>> processes_;
  std::uint32_t round_ = 0;
};

Host& host() {
  static Host once;
  return once;
}

bool holds_everything(const ledger::Snapshot& snapshot) {
  if (snapshot.processes.size() != kProcesses || snapshot.devices.size() != 1) return false;
  const ledger::DeviceFigures& figures = snapshot.devices.front().figures;
  const std::uint64_t half = std::uint64_t{kProcesses} * kBuffers / 2;
  return figures.space(ledger::Space::kDram).count == half &&
         figures.space(ledger::Space::kL1).taken == half * kBlock * 64;
}

template <typename Work>
double milliseconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void cold(benchmark::State& state, bool totals_only, double limit) {
  collect::Options options = host().options();
  options.totals_only = totals_only;
  double best = 1e9;
  for (auto _ : state) {
    std::unique_ptr<collect::Collector> collector;
    best = std::min(best, milliseconds([&] {
                      collector = std::make_unique<collect::Collector>(options);
                      collector->refresh();
                    }));
    if (!holds_everything(collector->snapshot())) return state.SkipWithError("wrong figures");
  }
  state.counters["value"] = best;
  state.counters["limit"] = limit;
}

void snapshot_cold(benchmark::State& state) {
  cold(state, false, 400);
  state.SetLabel("ms; 1,000 processes, 10^6 holdings, first look, best of 5");
}

void snapshot_totals(benchmark::State& state) {
  cold(state, true, 150);
  state.SetLabel("ms; the same, sums only");
}

void snapshot_changed(benchmark::State& state) {
  collect::Collector collector(host().options());
  collector.refresh();
  double best = 1e9;
  for (auto _ : state) {
    host().change();
    best = std::min(best, milliseconds([&] { collector.refresh(); }));
    if (!holds_everything(collector.snapshot())) return state.SkipWithError("wrong figures");
  }
  state.counters["value"] = best;
  state.counters["limit"] = 20;
  state.SetLabel("ms; 1 % replaced, 10 in each process, best of 10");
}

BENCHMARK(snapshot_cold)->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_totals)->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_changed)->Iterations(10)->Unit(benchmark::kMillisecond);

}  // namespace
