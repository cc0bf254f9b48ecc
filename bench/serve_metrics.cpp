// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a scrape costs the daemon, in time on a core, and the network, in bytes: of a host with 32
// devices, as a scraper asks for it.
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "serve_daemon.hpp"

namespace {

using namespace ttmem::bench;

struct Set {
  const char* query;
  int processes;        // on all devices
  double milliseconds;  // limit
  double packed_bytes;  // limit; 0 = none
};
constexpr Set kSets[] = {{"collect[]=device", 1, 5, 8 * 1024},
                         {"collect[]=short", 1, 1, 2 * 1024},
                         {"collect[]=device&collect[]=process", 16, 30, 0}};

void serve_metrics(benchmark::State& state) {
  const Set& set = kSets[state.range(0)];
  const FreshDirectory directory;
  const Workload host({"--devices", "32", "--processes", std::to_string(set.processes)});
  Daemon daemon;
  const int connection = daemon.connect();
  if (!host.has_started() || connection < 0) return state.SkipWithError("nobody answers");
  const std::string path = std::string("/metrics?") + set.query;
  const std::string headers = "Accept-Encoding: gzip\r\n";
  const std::size_t plain = get(connection, path).size();
  std::size_t packed = 0;
  const double before = daemon.child().cpu_seconds();
  std::size_t scrapes = 0;
  for (auto _ : state) {
    packed = get(connection, path, headers).size();
    ++scrapes;
  }
  const double spent = daemon.child().cpu_seconds() - before;
  if (packed == 0 || packed * 2 > plain) return state.SkipWithError("the answer was not packed");
  state.counters["value"] = spent / static_cast<double>(scrapes) * 1e3;
  state.counters["limit"] = set.milliseconds;
  state.counters["kB"] = static_cast<double>(packed) / 1e3;
  if (set.packed_bytes > 0) state.counters["kB_limit"] = set.packed_bytes / 1e3;
  state.SetLabel(fmt::format("ms of a core; {}, 32 devices, {} on all of them, {} kB", set.query,
                             set.processes, plain / 1000));
  ::close(connection);
}
BENCHMARK(serve_metrics)->DenseRange(0, 2)->ArgName("set")->Iterations(200);

}  // namespace
