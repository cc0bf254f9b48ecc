// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What history costs the daemon on a busy host: 32 devices, 100 processes on all of them. A record
// when every figure changed, one when none did, and with both what the batches cost.
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "serve/history/history.hpp"

namespace {

using namespace ttmem;
using serve::history::History;

constexpr std::uint32_t kDevices = 32;
constexpr std::int32_t kProcesses = 100;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kStart = 1'800'000'000 * kSecond;

ledger::DeviceFigures figures() {
  ledger::DeviceFigures figures;
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    figures.space(space) = {1u << 30, 4096, 4096, 4000, 8192, 3, 1u << 20};
  }
  figures.program_l1 = {1000, 2000, 3000, 4000, 5};
  figures.kernels.dispatches = 0;
  figures.headroom.min = 5000;
  return figures;
}

ledger::Snapshot busy_host() {
  ledger::Snapshot snapshot;
  for (std::uint32_t id = 0; id < kDevices; ++id) {
    ledger::DeviceView device;
    device.id = id;
    device.unique_id = 0xA000 + id;
    device.figures = figures();
    snapshot.devices.push_back(device);
  }
  for (std::int32_t pid = 1; pid <= kProcesses; ++pid) {
    ledger::ProcessView process;
    process.pid = pid;
    process.segment = "ttmem-" + std::to_string(pid);
    process.name = "model";
    process.alive = true;
    for (std::uint32_t id = 0; id < kDevices; ++id) {
      ledger::ProcessDeviceView device;
      device.id = id;
      device.unique_id = 0xA000 + id;
      device.open = true;
      device.figures = figures();
      process.devices.push_back(device);
    }
    snapshot.processes.push_back(process);
  }
  return snapshot;
}

void change(ledger::DeviceFigures& figures, std::uint64_t round) {
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    figures.space(space).taken = 4096 + round * 64;
    figures.space(space).requested = 4000 + round * 64;
  }
  figures.program_l1.resident = 1000 + round;
  figures.program_l1.reserved = 2000 + round;
  figures.kernels.dispatches = round * 100;
  figures.headroom.min = 5000 - static_cast<std::int64_t>(round);
}

void change(ledger::Snapshot& snapshot, std::uint64_t round) {
  for (ledger::DeviceView& device : snapshot.devices) change(device.figures, round);
  for (ledger::ProcessView& process : snapshot.processes) {
    for (ledger::ProcessDeviceView& device : process.devices) change(device.figures, round);
  }
}

struct Place {
  Place() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ttmem-bench-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  ~Place() { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

// Time of this process alone, in milliseconds: what history takes of a core.
double cpu_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void history(benchmark::State& state, bool changing, double limit) {
  const Place place;
  auto opened = History::open(place.folder / "history.db", {}, kStart);
  if (!opened) return state.SkipWithError(opened.error().message.c_str());
  ledger::Snapshot snapshot = busy_host();
  std::uint64_t second = 0;
  double total = 0;
  for (auto _ : state) {
    if (changing) change(snapshot, ++second);
    const std::uint64_t now = kStart + second * kSecond;
    const double begin = cpu_ms();
    (*opened)->record(snapshot, now);
    (*opened)->tick(now);
    total += cpu_ms() - begin;
    if (!changing) ++second;
  }
  if (!(*opened)->status().problem.empty()) return state.SkipWithError("the history complains");
  state.counters["value"] = total / static_cast<double>(state.iterations());
  state.counters["limit"] = limit;
}

void history_record_busy(benchmark::State& state) {
  history(state, true, 10);
  state.SetLabel(
      "ms of a core; a second of 32 devices, 100 processes, every figure new, with its writes");
}

void history_record_idle(benchmark::State& state) {
  history(state, false, 1);
  state.SetLabel("ms of a core; the same, nothing new");
}

void history_query(benchmark::State& state) {
  const Place place;
  auto opened = History::open(place.folder / "history.db", {}, kStart);
  if (!opened) return state.SkipWithError(opened.error().message.c_str());
  ledger::Snapshot snapshot = busy_host();
  snapshot.processes.clear();
  std::uint64_t now = kStart;
  for (std::uint64_t second = 0; second < 3600; ++second, now += kSecond) {
    change(snapshot, second);
    (*opened)->record(snapshot, now);
    (*opened)->tick(now);
  }
  serve::history::Query query;
  query.metric = "dram.taken";
  query.from = now - 3600 * kSecond;
  query.to = now;
  query.step_s = 10;
  double total = 0;
  for (auto _ : state) {
    const double begin = cpu_ms();
    const auto answer = (*opened)->query(query, now);
    total += cpu_ms() - begin;
    if (!answer || answer->series.size() != kDevices) return state.SkipWithError("wrong answer");
  }
  state.counters["value"] = total / static_cast<double>(state.iterations());
  state.counters["limit"] = 20;
  state.SetLabel("ms of a core; an hour of one figure of 32 devices, 360 points each");
}

BENCHMARK(history_record_busy)->Iterations(600)->Unit(benchmark::kMillisecond);
BENCHMARK(history_record_idle)->Iterations(600)->Unit(benchmark::kMillisecond);
BENCHMARK(history_query)->Iterations(20)->Unit(benchmark::kMillisecond);

}  // namespace
