// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a file that is made to hurt costs those who look: the processor's time of the first look at
// it and of all questions about it, as a reader who does not trust its owner. What is said of it is
// for the tests (tests/collect/hostile_test.cpp).
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "collect/collector.hpp"
#include "collect/hostile_files.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace ttmem;

double processor_ms() { return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC; }

void ask_everything(const collect::Collector& collector) {
  collector.holdings([](const ledger::HoldingView&) {});
  benchmark::DoNotOptimize(collector.programs());
  for (const ledger::DeviceView& device : collector.snapshot().devices) {
    benchmark::DoNotOptimize(collector.cores(device.id, true));
  }
}

void look(benchmark::State& state, support::HostileFile* write, unsigned files, double limit) {
  if (::geteuid() != 0) return state.SkipWithError("only root can give files to others");
  const support::TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 01777);
  std::vector<std::unique_ptr<support::SegmentBuilder>> builders;
  for (unsigned i = 0; i < files; ++i) {
    const std::string path = directory / fmt::format("ttmem-{}-1-{:016x}", 100 + i, i);
    builders.push_back(std::make_unique<support::SegmentBuilder>(path));
    builders.back()->lock();
    support::give_to_stranger(*builders.back());
    write(*builders.back());
  }
  collect::Options options;
  options.directories = {directory.path()};
  for (auto _ : state) {
    const double start = processor_ms();
    collect::Collector collector(options);
    collector.refresh();
    const double looked = processor_ms();
    ask_everything(collector);
    state.counters["value"] = looked - start;
    state.counters["limit"] = limit;
    state.counters["questions"] = processor_ms() - looked;
    state.counters["questions_limit"] = limit;
    state.SetLabel(fmt::format("ms of the processor; {} file{}", files, files == 1 ? "" : "s"));
  }
}

// A look gives one owner two seconds; one question is little more than two thirds of one.
constexpr double kMostMs = 2000;

void register_look(const char* name, support::HostileFile* write, unsigned files = 1) {
  benchmark::RegisterBenchmark(name, look, write, files, kMostMs)->Iterations(1);
}

[[maybe_unused]] const bool kRegistered = [] {
  register_look("hostile/failures", support::wrapping_failures);
  register_look("hostile/lists", support::lists_on_every_core);
  register_look("hostile/many_lists", support::expensive_with_others, 120);
  register_look("hostile/l1_full", support::l1_full_of_buffers);
  register_look("hostile/groups", support::groups_on_many_devices);
  register_look("hostile/kernels", support::kernels_turn_by_turn);
  register_look("hostile/unsettled", support::slots_that_never_settle);
  return true;
}();

}  // namespace
