// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metrics.hpp"

#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "view/seeds_snapshot.hpp"

namespace ttmem::test {
namespace {

using ledger::Space;

const std::string kDevice = R"(device="0",unique_id="0xde30000000000000")";

// Every name that stands in the text, and in docs/metrics.md, with its type.
using Types = std::map<std::string, std::string>;

// Two lines of the first process grow, on the first of its devices.
explain::LeakReport leaks_of(const ledger::Snapshot& snapshot) {
  explain::LeakReport report;
  if (snapshot.processes.empty() || snapshot.processes.front().devices.empty()) return report;
  const ledger::ProcessView& process = snapshot.processes.front();
  const auto owner = std::make_shared<const ledger::ProcessName>(process);
  report.processes = {{owner, 12, 12, true, true}};
  explain::LeakSuspect suspect;
  suspect.process = owner;
  suspect.device = process.devices.front().id;
  report.suspects = {suspect, suspect};
  return report;
}

std::string text_of(const ledger::Snapshot& snapshot, bool per_process = false) {
  view::SelfFigures self;
  self.started_ns = 1'700'000'000'500'000'000;
  self.cpu_seconds = 1.5;
  self.dropped = 3;
  view::CounterMemory memory;
  return view::metrics_text(snapshot, {.per_process = per_process}, self, memory,
                            leaks_of(snapshot));
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

// The seeds with something of everything.
ledger::Snapshot rich_snapshot() {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.processes.front().tracking.anomalies = {0, 2};
  ledger::FailureView failure;
  failure.kind = "out_of_memory";
  snapshot.processes.front().failures = {failure};
  snapshot.processes.front().job = {
      .key = "train", .source = ledger::JobSource::kGiven, .rank = 0, .ranks = 2};
  ledger::ProcessView dead = snapshot.processes.front();
  dead.pid += 1;
  dead.job.rank = 1;
  dead.alive = false;
  dead.ended = ledger::Ended::kDied;
  dead.ended_at = snapshot.time;
  snapshot.processes.push_back(dead);
  ledger::HostDevice& host = snapshot.devices[0].host.emplace();
  host.temperature_millidegrees = host.power_microwatts = host.aiclk_mhz = 1;
  host.voltage_millivolts = host.current_milliamperes = host.fan_rpm = 1;
  return snapshot;
}

Types types_in(const std::string& text) {
  Types types;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    static const std::regex type("# TYPE (\\w+) (\\w+)");
    if (std::regex_match(line, match, type)) types[match[1]] = match[2];
  }
  return types;
}

Types types_in_docs() {
  Types types;
  std::ifstream page(TTMEM_SOURCE_DIR "/docs/metrics.md");
  for (std::string line; std::getline(page, line);) {
    std::smatch match;
    static const std::regex row("\\| `(ttmem_\\w+)` \\| (\\w+) \\|.*");
    if (std::regex_match(line, match, row)) types[match[1]] = match[2];
  }
  return types;
}

TEST(Metrics, LeaksAreToldOnlyWhereStepsAreKnown) {
  const ledger::Snapshot snapshot = seeds_snapshot();
  const std::string text = text_of(snapshot);
  EXPECT_TRUE(has_line(text, "ttmem_leak_suspects{" + kDevice + R"(,kind="line"} 2)")) << text;
  EXPECT_TRUE(has_line(text, "ttmem_leak_suspects{" + kDevice + R"(,kind="lowest_l1"} 0)"));
  view::CounterMemory memory;
  explain::LeakReport report = leaks_of(snapshot);
  report.processes[0].is_known = false;
  EXPECT_EQ(view::metrics_text(snapshot, {}, {}, memory, report).find("ttmem_leak_suspects"),
            std::string::npos);
}

TEST(Metrics, TheNumbersAreThoseOfTheSnapshot) {
  const std::string text = text_of(seeds_snapshot());
  for (const std::string& line :
       {"ttmem_memory_bytes{" + kDevice + R"(,space="dram",figure="taken"} 26222592)",
        "ttmem_memory_bytes{" + kDevice + R"(,space="l1",figure="requested"} 1048576)",
        "ttmem_memory_bytes{" + kDevice + R"(,space="program_l1",figure="resident"} 2211840)",
        "ttmem_memory_bytes{" + kDevice + R"(,space="l1_total",figure="used"} 3358720)",
        "ttmem_memory_capacity_bytes{" + kDevice + R"(,space="dram"} 12872318208)",
        "ttmem_kernel_footprint_bytes{" + kDevice + R"(,type="fabric"} 917504)",
        "ttmem_dispatches_total{" + kDevice + R"(,kind="cache_hit"} 2)",
        "ttmem_headroom_bytes{" + kDevice + "} 1351488",
        std::string(R"(ttmem_processes{state="alive"} 1)"),
        std::string("ttmem_self_cpu_seconds_total 1.5"),
        std::string("ttmem_self_dropped_total 3")}) {
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  }
}

TEST(Metrics, WhatIsNotKnownIsAbsent) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::DeviceFigures& figures = snapshot.devices[0].figures;
  figures.space(Space::kDram).taken.reset();
  figures.headroom.min.reset();
  figures.kernels = {};
  const std::string text = text_of(snapshot);
  EXPECT_EQ(text.find(R"(space="dram",figure="taken")"), std::string::npos);
  EXPECT_NE(text.find(R"(space="dram",figure="requested")"), std::string::npos);
  EXPECT_EQ(text.find("ttmem_headroom_bytes"), std::string::npos);
  EXPECT_EQ(text.find("ttmem_kernel_footprint_bytes"), std::string::npos);
}

TEST(Metrics, SensorsAreInTheUnitsOfPrometheus) {
  ledger::Snapshot snapshot = seeds_snapshot();
  EXPECT_EQ(text_of(snapshot).find("ttmem_device_temperature"), std::string::npos);
  ledger::HostDevice& host = snapshot.devices[0].host.emplace();
  host.temperature_millidegrees = 47'300;
  host.power_microwatts = 65'000'000;
  host.aiclk_mhz = 1350;
  const std::string text = text_of(snapshot);
  EXPECT_TRUE(has_line(text, "ttmem_device_temperature_celsius{" + kDevice + "} 47.3")) << text;
  EXPECT_TRUE(has_line(text, "ttmem_device_power_watts{" + kDevice + "} 65")) << text;
  EXPECT_TRUE(has_line(text, "ttmem_device_clock_hertz{" + kDevice + "} 1350000000")) << text;
  EXPECT_EQ(text.find("ttmem_device_fan_rpm"), std::string::npos) << "it is not known";
}

TEST(Metrics, ProcessesOnlyOnRequestAndOnlyTheLiving) {
  ledger::Snapshot snapshot = seeds_snapshot();
  EXPECT_EQ(text_of(snapshot).find("ttmem_process_"), std::string::npos);
  const std::string text = text_of(snapshot, true);
  for (const ledger::ProcessView& process : snapshot.processes) {
    const std::string label = "pid=\"" + std::to_string(process.pid) + "\"";
    EXPECT_EQ(text.find(label) != std::string::npos, process.alive) << label;
  }
}

// One sample twice makes Prometheus refuse all of them.
TEST(Metrics, ProcessesThatStartedAtOnceInTwoContainersHaveTwoSeries) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::ProcessView twin = snapshot.processes.front();
  twin.key += 1000;
  twin.segment += "f";
  snapshot.processes.push_back(twin);
  std::istringstream lines(text_of(snapshot, true));
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
}

TEST(Metrics, AScraperChoosesItsSeries) {
  view::CounterMemory memory;
  const auto text = [&](const std::vector<std::string>& collected) {
    return view::metrics_text(seeds_snapshot(), *view::metrics_options(collected), {}, memory);
  };
  const std::string devices = text({"device"}), processes = text({"process"});
  EXPECT_NE(devices.find("ttmem_kernel_footprint_bytes"), std::string::npos);
  EXPECT_EQ(devices.find("ttmem_process_memory_bytes"), std::string::npos);
  EXPECT_EQ(processes.find("ttmem_memory_bytes"), std::string::npos);
  EXPECT_NE(processes.find("ttmem_process_memory_bytes"), std::string::npos);
  EXPECT_FALSE(view::metrics_options({"device", "everything"}));
}

TEST(Metrics, TheShortSetHasEightSeriesPerDeviceAndTheSameNumbers) {
  view::CounterMemory memory;
  const std::string all = text_of(seeds_snapshot());
  std::istringstream lines(
      view::metrics_text(seeds_snapshot(), *view::metrics_options({"short"}), {}, memory));
  int series = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#') || line.starts_with("ttmem_self_")) continue;
    EXPECT_TRUE(has_line(all, line)) << line;
    ++series;
  }
  EXPECT_EQ(series, 8);
}

// Labels of a process stand once, to be joined; its series carry only what identifies it.
TEST(Metrics, TheNameOfAProcessStandsInOneSeries) {
  const std::string text = text_of(seeds_snapshot(), true);
  std::istringstream lines(text);
  int named = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",name=\"") == std::string::npos) continue;
    EXPECT_TRUE(line.starts_with("ttmem_process_info{")) << line;
    ++named;
  }
  EXPECT_EQ(named, 1);
}

TEST(Metrics, TooManyProcessesAreLeftOutAndCounted) {
  ledger::Snapshot snapshot = seeds_snapshot();
  const ledger::ProcessView one = snapshot.processes.front();
  ASSERT_TRUE(one.alive);
  const std::size_t fit = view::kMostProcessPairs / one.devices.size();
  snapshot.processes.assign(fit + 3, one);
  EXPECT_TRUE(has_line(text_of(snapshot, true), "ttmem_process_series_left_out 3"));
  EXPECT_TRUE(has_line(text_of(seeds_snapshot(), true), "ttmem_process_series_left_out 0"));
}

TEST(Metrics, NobodyFillsTheSeriesOfProcessesOrJobsOfOthers) {
  ledger::Snapshot snapshot = seeds_snapshot();
  const ledger::ProcessView one = snapshot.processes.front();
  snapshot.processes.clear();
  for (unsigned i = 0; i < 2 * view::kMostProcessPairs; ++i) {
    ledger::ProcessView& each = snapshot.processes.emplace_back(one);
    each.key = i + 1;
    each.user = "mallory";
    each.uid = 65533;
    each.job.key = "job-" + std::to_string(i);
  }
  ledger::ProcessView& victim = snapshot.processes.emplace_back(one);
  victim.key = 100'000;
  victim.uid = 4711;
  victim.user = "victim";
  victim.job.key = "mine";
  victim.devices[0].figures.space(ledger::Space::kDram).taken = 1;
  const std::string text = text_of(snapshot, true);
  EXPECT_NE(text.find("ttmem_job_info{workload=\"mine\",user=\"victim\""), std::string::npos);
  EXPECT_NE(text.find("user=\"victim\",container_id"), std::string::npos);
  EXPECT_TRUE(has_line(
      text, fmt::format("ttmem_job_series_left_out {}", 2 * view::kMostProcessPairs - 128)));
}

TEST(Metrics, NamesOfStrangersAreEscaped) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.processes[0].name = "a\"b\\c\nd";
  snapshot.devices[0].board = "\"}\nttmem_memory_bytes 1";
  const std::string text = text_of(snapshot, true);
  EXPECT_NE(text.find(R"(name="a\"b\\c\nd")"), std::string::npos);
  EXPECT_EQ(text.find("\nttmem_memory_bytes 1"), std::string::npos);
}

TEST(Metrics, WhatIsNoUtf8IsReplacedSoThatTheAnswerIsTaken) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.processes[0].name = "a\xC3\xBC\xC3|\xFF";
  EXPECT_NE(text_of(snapshot, true).find("name=\"a\xC3\xBC\xEF\xBF\xBD|\xEF\xBF\xBD\""),
            std::string::npos);
}

TEST(Metrics, LaunchesNeverFall) {
  ledger::Snapshot snapshot = seeds_snapshot();
  const std::uint64_t id = snapshot.devices[0].unique_id;
  view::CounterMemory memory;
  memory.observe(snapshot);
  const std::uint64_t first = memory.totals(id)[0].value();
  snapshot.processes[0].devices[0].figures.kernels.dispatches = 8;  // 2 before
  memory.observe(snapshot);
  EXPECT_EQ(memory.totals(id)[0], first + 6);
  ledger::ProcessView other = snapshot.processes[0];
  snapshot.processes.clear();
  memory.observe(snapshot);
  EXPECT_EQ(memory.totals(id)[0], first + 6);
  other.pid = 999;
  snapshot.processes = {other};
  memory.observe(snapshot);
  EXPECT_EQ(memory.totals(id)[0], first + 14);
  EXPECT_FALSE(memory.totals(1)[0]);
}

TEST(Metrics, FailuresAndDeathsNeverFall) {
  ledger::Snapshot snapshot = seeds_snapshot();
  view::CounterMemory memory;
  memory.observe(snapshot);
  const std::uint64_t failures = memory.failures(), deaths = memory.deaths();
  ledger::ProcessView& process = snapshot.processes[0];
  process.failure_count += 12;  // more than a process keeps
  process.alive = false;
  process.ended = ledger::Ended::kDied;
  for (int look = 0; look < 2; ++look) memory.observe(snapshot);
  EXPECT_EQ(memory.failures(), failures + 12);
  EXPECT_EQ(memory.deaths(), deaths + 1);
  // What it left is removed: nothing failed and nobody died because of that.
  snapshot.processes.erase(snapshot.processes.begin());
  memory.observe(snapshot);
  EXPECT_EQ(memory.failures(), failures + 12);
  EXPECT_EQ(memory.deaths(), deaths + 1);
}

TEST(Metrics, TheFirstDeathOfAJobIsToldWithWhatItHeld) {
  const std::string text = text_of(rich_snapshot());
  EXPECT_NE(text.find("ttmem_job_first_death_seconds{"), std::string::npos) << text;
  const std::size_t place = text.find("\nttmem_job_first_death_bytes{");
  ASSERT_NE(place, std::string::npos);
  EXPECT_NE(text.find("space=\"dram\"} ", place), std::string::npos);
}

TEST(Metrics, TheDocumentListsExactlyWhatIsTold) {
  EXPECT_EQ(types_in(text_of(rich_snapshot(), true)), types_in_docs());
}

TEST(Metrics, CountersEndInTotalAndEverythingHasHelp) {
  const std::string text = text_of(rich_snapshot(), true);
  for (const auto& [name, type] : types_in(text)) {
    EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
    EXPECT_NE(text.find("# HELP " + name + " "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ttmem::test
