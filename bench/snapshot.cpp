// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a look at a busy host costs: 1,000 processes with 1,000 buffers each on one device, in
// segments that were written beforehand. Cold: a reader that knows nothing. Changed: one that was
// there, after 1 % of the holdings were replaced, spread over all processes. Page: what one page of
// the holdings costs.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "collect/collector.hpp"
#include "ledger/holding_page.hpp"
#include "many_segments.hpp"

namespace {

using namespace ttmem;
using bench::ManySegments;

constexpr std::uint32_t kProcesses = 1000;
constexpr std::uint32_t kBuffers = 1000;

ManySegments& host() {
  static ManySegments once(kProcesses, kBuffers, 1);
  return once;
}

bool holds_everything(const ledger::Snapshot& snapshot) {
  if (snapshot.processes.size() != kProcesses || snapshot.devices.size() != 1) return false;
  const ledger::DeviceFigures& figures = snapshot.devices.front().figures;
  const std::uint64_t half = std::uint64_t{kProcesses} * kBuffers / 2;
  return figures.space(ledger::Space::kDram).count == half &&
         figures.space(ledger::Space::kL1).taken == half * ManySegments::kBlock * 64;
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
    host().change(100);
    best = std::min(best, milliseconds([&] { collector.refresh(); }));
    if (!holds_everything(collector.snapshot())) return state.SkipWithError("wrong figures");
  }
  state.counters["value"] = best;
  state.counters["limit"] = 20;
  state.SetLabel("ms; 1 % replaced, 10 in each process, best of 10");
}

// In the middle of all, and only those in L1: every second one.
void snapshot_page(benchmark::State& state) {
  constexpr std::size_t kPage = 1000;
  collect::Collector collector(host().options());
  collector.refresh();
  const ledger::HoldingQuestion question{.kinds = {}, .spaces = {ledger::Space::kL1}};
  double best = 1e9;
  for (auto _ : state) {
    std::size_t found = 0;
    std::uint64_t total = 0;
    best = std::min(best, milliseconds([&] {
                      ledger::HoldingPlace place{.process = kProcesses / 2};
                      collector.holdings(question, place,
                                         [&](const auto&) { return ++found < kPage; });
                      total = collector.count_holdings(question);
                    }));
    const bool right = found == kPage && total == std::uint64_t{kProcesses} * kBuffers / 2;
    if (!right) return state.SkipWithError("wrong holdings");
  }
  state.counters["value"] = best;
  state.counters["limit"] = 10;
  state.SetLabel("ms; a page of 1,000 of 10^6 holdings, filtered, best of 10");
}

BENCHMARK(snapshot_cold)->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_totals)->Iterations(5)->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_changed)->Iterations(10)->Unit(benchmark::kMillisecond);
BENCHMARK(snapshot_page)->Iterations(10)->Unit(benchmark::kMillisecond);

}  // namespace
