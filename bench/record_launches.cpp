// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a launch costs more where every launch is an event (ttmem run --launches). A recorder
// decides that when it opens, so the launches without events are those of a child.
#include <sys/wait.h>

#include <array>
#include <cmath>

#include <benchmark/benchmark.h>

#include "base/file_descriptor.hpp"
#include "tracked.hpp"

namespace ttmem::bench {
namespace {

constexpr int kRounds = 5000;

// NaN if it could not be measured.
double plain_launch_ns() {
  int ends[2];
  if (::pipe(ends) != 0) return NAN;
  const FileDescriptor out(ends[0]), in(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    unsetenv("TTMEM_LAUNCHES");
    std::array<int, kRounds> rounds{};
    const double median = time_launches(rounds, 1).median();
    const bool is_told = ::write(in.get(), &median, sizeof median) == sizeof median;
    ::_exit(is_told ? 0 : 1);
  }
  int status = 0;
  double median = NAN;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return NAN;
  return ::read(out.get(), &median, sizeof median) == sizeof median ? median : NAN;
}

void record_launch_told(benchmark::State& state) {
  const double plain = plain_launch_ns();
  setenv("TTMEM_LAUNCHES", "1", 1);
  Timing timing = time_launches(state, 1);
  state.counters["value"] = timing.median() - plain;
  state.counters["limit"] = 60;
  state.counters["p999"] = timing.p999();
  state.counters["p999_limit"] = 1000;
  state.SetLabel("ns; more than a launch that is only counted; p999 of single launches");
}
BENCHMARK(record_launch_told)->Iterations(kRounds);

}  // namespace
}  // namespace ttmem::bench
