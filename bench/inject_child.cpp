// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the preload adds to the start of a child that never uses TT-Metal, such as one of the dozens
// of compilers of a run: /bin/true with and without it, in turns; the median of the differences
// counts.

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

constexpr int kPairs = 300;

double milliseconds_of_a_child(char* preload) {
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  char* environment[] = {preload, nullptr};
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (::posix_spawn(&child, program, nullptr, nullptr, arguments, environment) == 0) {
    ::waitpid(child, nullptr, 0);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

void child_start(benchmark::State& state) {
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const auto library = build / "lib" / "libttmem_preload.so";
  if (!std::filesystem::exists(library)) {
    state.SkipWithError("the preload is not built");
    return;
  }
  std::string preload = "LD_PRELOAD=" + library.string();
  std::vector<double> added;
  for (auto _ : state) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const double without = milliseconds_of_a_child(nullptr);
      added.push_back(milliseconds_of_a_child(preload.data()) - without);
    }
  }
  std::nth_element(added.begin(), added.begin() + kPairs / 2, added.end());
  state.counters["value"] = added[kPairs / 2];
  state.counters["limit"] = 0.2;
  state.SetLabel("ms; added to the start of a child that never uses TT-Metal");
}

BENCHMARK(child_start)->Name("inject/child_start")->Iterations(1);

}  // namespace
