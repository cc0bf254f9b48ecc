// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A made-up host for tests of the history: devices and processes whose figures are set by hand, a
// clock that goes when told to, and a folder of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/snapshot.hpp"
#include "serve/history/history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::serve::history {

inline void PrintTo(const Point& point, std::ostream* out) {
  const auto text = [](const auto& value) { return value ? std::to_string(*value) : "null"; };
  *out << "{min " << text(point.min) << ", max " << text(point.max) << ", last " << text(point.last)
       << "}";
}

}  // namespace ttmem::serve::history

namespace ttmem::test {

using serve::history::Answer;
using serve::history::History;
using serve::history::Limits;
using serve::history::Point;
using serve::history::Query;
using serve::history::Run;
using serve::history::RunQuery;
using serve::history::Series;

inline constexpr std::uint64_t kNs = 1'000'000'000;
// A multiple of every step that is used here.
inline constexpr std::int64_t kStart = 1'800'000'000 / 86'400 * 86'400;

struct HistoryWorld {
  HistoryWorld() { snapshot.boot_id = "boot"; }

  void add_device(std::uint64_t unique_id) {
    ledger::DeviceView device;
    device.id = static_cast<std::uint32_t>(snapshot.devices.size());
    device.unique_id = unique_id;
    device.arch = ledger::Arch::kWormholeB0;
    snapshot.devices.push_back(device);
  }

  // A process on the first device.
  ledger::ProcessView& add_process(std::int32_t pid) {
    ledger::ProcessView process;
    process.pid = pid;
    process.start = 100;
    process.name = "model";
    process.user = "user1";
    process.segment = "ttmem-" + std::to_string(pid);
    process.alive = true;
    process.started = now();
    ledger::ProcessDeviceView device;
    device.unique_id = snapshot.devices.front().unique_id;
    device.open = true;
    process.devices.push_back(device);
    snapshot.processes.push_back(process);
    return snapshot.processes.back();
  }

  // Sets DRAM of a process on the first device; the device is the sum over the living.
  void set_dram(std::size_t process, std::uint64_t taken, std::uint64_t peak = 0) {
    ledger::SpaceFigures& figures = dram(snapshot.processes[process].devices.front().figures);
    figures.taken = taken;
    figures.peak = std::max({figures.peak.value_or(0), taken, peak});
    sum_up();
  }

  void end_process(std::size_t process, ledger::Ended how) {
    snapshot.processes[process].alive = false;
    snapshot.processes[process].ended = how;
    snapshot.processes[process].ended_at = now();
    sum_up();
  }

  void sum_up() {
    ledger::DeviceView& device = snapshot.devices.front();
    ledger::Figure sum;
    device.processes = 0;
    for (const ledger::ProcessView& process : snapshot.processes) {
      if (!process.alive) continue;
      device.processes += 1;
      const auto& taken = process.devices.front().figures.space(ledger::Space::kDram).taken;
      if (taken) sum = sum.value_or(0) + *taken;
    }
    dram(device.figures).taken = sum;
  }

  static ledger::SpaceFigures& dram(ledger::DeviceFigures& figures) {
    return figures.space(ledger::Space::kDram);
  }

  void open(const Limits& limits = {}) {
    auto opened = History::open(path, limits, now());
    ASSERT_TRUE(opened) << opened.error().message;
    history = std::move(*opened);
  }
  void restart(const Limits& limits = {}) {
    history->close(now());
    history.reset();
    open(limits);
  }

  ledger::TimeNs now() const { return static_cast<std::uint64_t>(clock_s) * kNs; }
  void record() { history->record(snapshot, now()); }
  // Lets seconds go by, as the daemon sees them.
  void pass(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      ++clock_s;
      history->tick(now());
    }
  }

  Query ask(const std::string& metric, std::int64_t from_s, std::int64_t to_s,
            std::int64_t step_s) const {
    Query query;
    query.metric = metric;
    query.from = static_cast<std::uint64_t>(from_s) * kNs;
    query.to = static_cast<std::uint64_t>(to_s) * kNs;
    query.step_s = step_s;
    return query;
  }
  Answer answer(const Query& query) const {
    auto found = history->query(query, now());
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Answer{};
  }
  // The points of the one series there is.
  std::vector<Point> points(const std::string& metric, std::int64_t from_s, std::int64_t to_s,
                            std::int64_t step_s) const {
    const Answer found = answer(ask(metric, from_s, to_s, step_s));
    EXPECT_EQ(found.series.size(), 1u);
    return found.series.empty() ? std::vector<Point>() : found.series.front().points;
  }
  std::vector<Run> runs(const RunQuery& query = {}) const {
    auto found = history->runs(query, now());
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::vector<Run>();
  }

  ledger::Snapshot snapshot;
  std::int64_t clock_s = kStart;
  support::TemporaryDirectory place{std::filesystem::temp_directory_path()};
  std::filesystem::path folder = place.path();
  std::string path = place / "history.db";
  std::unique_ptr<History> history;
};

// min = max = last.
inline Point flat(std::int64_t value) { return {value, value, value}; }

}  // namespace ttmem::test
