// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a launch costs where every launch is an event (TTMEM_LAUNCHES=1), which a recorder decides
// when it opens: so in an executable of its own. The limit is that of a launch, and 60 ns more.
#include <benchmark/benchmark.h>

#include "tracked.hpp"

namespace ttmem::bench {
namespace {

constexpr double kLaunchNs = 20, kEventNs = 60;

void record_launch_told(benchmark::State& state) {
  setenv("TTMEM_LAUNCHES", "1", 1);
  const ttmem_workload_t workload = ttmem_workload_created(1, set_of(1));
  ttmem_dispatched(workload, 0, 0, 0);
  Timing timing;
  for (auto _ : state) {
    timing.batch([&](int) { ttmem_dispatched(workload, 0, 0, 0); });
    timing.singles([&](int) { ttmem_dispatched(workload, 0, 0, 0); });
  }
  ttmem_workload_released(workload);
  state.counters["value"] = timing.median();
  state.counters["limit"] = kLaunchNs + kEventNs;
  state.counters["p999"] = timing.p999();
  state.counters["p999_limit"] = 1000;
  state.SetLabel("ns; a loaded workload, each launch an event; p999 of single calls");
}
BENCHMARK(record_launch_told)->Iterations(5000);

}  // namespace
}  // namespace ttmem::bench
