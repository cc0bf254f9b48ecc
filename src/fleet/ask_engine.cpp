// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/ask_engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "fleet/questions.hpp"
#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

// Hosts that told something in this time are known, even if they are silent now.
constexpr const char* kMemory = "1h";

// ---- hosts

using Hosts = std::map<std::string, HostRow>;

// Who is there: everybody who told something within the last hour, and when that was; and who
// should have. True if the engine still has series of somebody who is stale.
bool find_hosts(Questions& questions, const EngineQuestion& question, Hosts& hosts,
                std::vector<std::string>& problems) {
  const std::string seen = questions.select("ttmem_self_snapshots_total");
  questions.ask(fmt::format("group by (instance) (last_over_time({}[{}]))", seen, kMemory),
                [&](const Sample& sample) {
                  HostRow& row = hosts[sample.label("instance")];
                  row.name = sample.label("instance");
                  row.state = HostState::kStale;
                });
  // Who is scraped as the others are, and has not told anything for longer. Where somebody answers
  // and tells nothing of ours, a scrape job is of other things, too: nobody can say what is down.
  questions.ask(fmt::format("group by (instance) ({0} == 0 and on (job) (group by (job) "
                            "(last_over_time({1}[{2}])) unless on (job) group by (job) "
                            "({0} == 1 unless on (job, instance) {1})))",
                            questions.select("up"), seen, kMemory),
                [&](const Sample& sample) {
                  HostRow row;
                  row.name = sample.label("instance");
                  row.state = HostState::kSilent;
                  row.problem = "Prometheus gets no answer that it takes";
                  hosts.emplace(row.name, row);
                });
  // Looked at twice a minute: who told something only between two looks has no age.
  questions.ask(fmt::format("time() - max by (instance) (max_over_time(timestamp({})[{}:30s]))",
                            seen, kMemory),
                [&](const Sample& sample) {
                  HostRow& row = hosts[sample.label("instance")];
                  row.name = sample.label("instance");
                  row.state = HostState::kStale;
                  row.age_ns = whole(sample.value) * 1'000'000'000;
                });
  questions.ask(fmt::format("time() - max by (instance) (timestamp({}))", seen),
                [&](const Sample& sample) {
                  HostRow& row = hosts[sample.label("instance")];
                  row.name = sample.label("instance");
                  row.age_ns = whole(sample.value) * 1'000'000'000;
                });
  // Whose series are there now. VictoriaMetrics tells the age of those that have ended, too.
  bool remembered = false;
  questions.ask(fmt::format("count by (instance) ({})", seen), [&](const Sample& sample) {
    HostRow& row = hosts[sample.label("instance")];
    row.name = sample.label("instance");
    const bool fresh = row.age_ns.value_or(0) <= question.stale_seconds * 1'000'000'000ull;
    row.state = fresh ? HostState::kFresh : HostState::kStale;
    remembered = remembered || !fresh;
    if (sample.value <= 1) return;
    problems.push_back(
        fmt::format("{} is scraped {} times, or two hosts have this name: it is counted once",
                    view::printable(row.name), whole(sample.value)));
  });
  questions.answer();
  for (auto& [name, row] : hosts) {
    if (row.state != HostState::kStale) continue;
    row.problem = row.age_ns ? fmt::format("told nothing for {}", duration_text(*row.age_ns))
                             : std::string("told something within the last hour, and not since");
  }
  return remembered;
}

// Figures of hosts that are fresh; what an engine still remembers of others is not told as now.
void add_host_figures(Questions& questions, Hosts& hosts) {
  const auto each = [&](const std::string& expression,
                        const std::function<void(HostRow&, const Sample&)>& set) {
    questions.ask(expression, [&hosts, set](const Sample& sample) {
      const auto found = hosts.find(sample.label("instance"));
      if (found == hosts.end() || found->second.state != HostState::kFresh) return;
      set(found->second, sample);
    });
  };
  const auto figure = [&](const char* function, const std::string& series,
                          std::optional<std::uint64_t> HostRow::* member) {
    each(fmt::format("{} by (instance) ({})", function, series),
         [member](HostRow& row, const Sample& sample) { row.*member = whole(sample.value); });
  };
  const std::string taken =
      questions.by_device("ttmem_memory_bytes", R"(space="dram",figure="taken")");
  each(fmt::format(R"(count_values by (instance) ("in_use", {} > bool 0))",
                   questions.by_device("ttmem_device_processes")),
       [](HostRow& row, const Sample& sample) {
         const std::uint64_t devices = whole(sample.value);
         row.devices = row.devices.value_or(0) + devices;
         if (sample.label("in_use") == "1") row.in_use = row.in_use.value_or(0) + devices;
       });
  each(fmt::format("count by (instance) ({})", taken), [](HostRow& row, const Sample& sample) {
    const std::uint64_t devices = row.devices.value_or(0);
    row.untold = devices - std::min(devices, whole(sample.value));
  });
  figure("sum", taken, &HostRow::dram);
  // How many devices have how much: their number and their sum for the price of one.
  each(fmt::format(R"(count_values by (instance) ("bytes", {}))",
                   questions.by_device("ttmem_memory_capacity_bytes", R"(space="dram")")),
       [](HostRow& row, const Sample& sample) {
         const double bytes = std::strtod(sample.label("bytes").c_str(), nullptr);
         row.dram_capacity = row.dram_capacity.value_or(0) + whole(sample.value) * whole(bytes);
       });
  figure("sum", questions.by_device("ttmem_memory_bytes", R"(space="l1_total",figure="used")"),
         &HostRow::l1);
  figure("sum", questions.by_device("ttmem_memory_capacity_bytes", R"(space="l1_total")"),
         &HostRow::l1_capacity);
  each(fmt::format("min by (instance) ({})", questions.select("ttmem_headroom_bytes")),
       [](HostRow& row, const Sample& sample) { row.headroom = whole_signed(sample.value); });
  figure("max", questions.select("ttmem_processes", R"(state="alive")"), &HostRow::processes);
  questions.answer();
  for (auto& [name, row] : hosts) {
    if (row.state != HostState::kFresh) continue;
    row.devices = row.devices.value_or(0);
    row.in_use = row.in_use.value_or(0);
    row.untold = row.untold.value_or(*row.devices);  // nobody told anything of any of them
  }
}

void add_alerts(Questions& questions, Fleet& fleet) {
  questions.ask(questions.select("ALERTS", R"(alertname=~"Ttmem.*",alertstate="firing")"),
                [&](const Sample& sample) {
                  std::string text = sample.label("alertname");
                  if (!sample.label("instance").empty()) text += " on " + sample.label("instance");
                  if (!sample.label("device").empty()) {
                    text += " device " + sample.label("device");
                  }
                  if (!sample.label("workload").empty()) {
                    text += " for job " + sample.label("workload");
                    if (const auto& user = sample.label("user"); !user.empty())
                      text += " of " + user;
                  }
                  fleet.alerts.push_back(view::printable(text));
                });
  questions.answer();
  std::ranges::sort(fleet.alerts);
}

// Why nothing is told of a host that does not tell now.
Error silence_of(const Engine& engine, const EngineQuestion& question, const std::string& host) {
  Questions questions(engine, question);
  Hosts hosts;
  std::vector<std::string> problems;
  find_hosts(questions, question, hosts, problems);
  if (questions.error()) return *questions.error();
  const auto found = hosts.find(host);
  if (found == hosts.end()) {
    return {ErrorCode::kNotFound, fmt::format("Prometheus knows no host {}: ttmem fleet lists them",
                                              view::printable(host))};
  }
  return {ErrorCode::kSystem,
          fmt::format("{} is {}: {}", view::printable(host), ledger::name(found->second.state),
                      view::printable(found->second.problem))};
}

}  // namespace

Result<Fleet> ask_fleet(const Engine& engine, const EngineQuestion& question) {
  Questions questions(engine, question);
  Fleet fleet;
  fleet.source = engine.name();
  fleet.time_ns = question.now_ns;
  Hosts hosts;
  const bool remembered = find_hosts(questions, question, hosts, fleet.problems);
  add_host_figures(questions, hosts);
  fleet.jobs = jobs_over_hosts(questions, remembered);
  add_alerts(questions, fleet);
  if (questions.error()) return *questions.error();
  for (auto& [name, row] : hosts) fleet.hosts.push_back(std::move(row));
  for (const std::string& warning : questions.warnings()) {
    fleet.problems.push_back("Prometheus warns: " + view::printable(warning));
  }
  sort(fleet);
  return fleet;
}

Result<std::vector<DeviceRow>> ask_host(const Engine& engine, const EngineQuestion& question,
                                        const std::string& host) {
  Questions questions(engine, question);
  const std::string here = "instance=" + quoted(host);
  std::map<std::string, DeviceRow> devices;
  const auto each = [&](const std::string& name, const std::string& matchers,
                        const std::function<void(DeviceRow&, double)>& set) {
    questions.ask(
        fmt::format("max by (device, unique_id) ({})",
                    questions.select(name, matchers.empty() ? here : here + "," + matchers)),
        [&devices, set](const Sample& sample) {
          DeviceRow& row = devices[sample.label("unique_id")];
          row.id = sample.label("device");
          row.unique_id = sample.label("unique_id");
          set(row, sample.value);
        });
  };
  each("ttmem_device_processes", "",
       [](DeviceRow& row, double value) { row.processes = whole(value); });
  each("ttmem_memory_bytes", R"(space="dram",figure="taken")",
       [](DeviceRow& row, double value) { row.dram = whole(value); });
  each("ttmem_memory_capacity_bytes", R"(space="dram")",
       [](DeviceRow& row, double value) { row.dram_capacity = whole(value); });
  each("ttmem_memory_bytes", R"(space="l1_total",figure="used")",
       [](DeviceRow& row, double value) { row.l1 = whole(value); });
  each("ttmem_memory_capacity_bytes", R"(space="l1_total")",
       [](DeviceRow& row, double value) { row.l1_capacity = whole(value); });
  each("ttmem_headroom_bytes", "",
       [](DeviceRow& row, double value) { row.headroom = whole_signed(value); });
  each("ttmem_device_temperature_celsius", "",
       [](DeviceRow& row, double value) { row.temperature = value; });
  each("ttmem_device_power_watts", "", [](DeviceRow& row, double value) { row.power = value; });
  questions.ask(questions.select("ttmem_device_info", here), [&](const Sample& sample) {
    const auto found = devices.find(sample.label("unique_id"));
    if (found != devices.end()) found->second.board = sample.label("board");
  });
  bool fresh = false;
  questions.ask(questions.fresh(here), [&](const Sample&) { fresh = true; });
  questions.answer();
  if (questions.error()) return *questions.error();
  if (!fresh) return silence_of(engine, question, host);
  std::vector<DeviceRow> rows;
  for (auto& [id, row] : devices) rows.push_back(std::move(row));
  std::ranges::sort(rows, {},
                    [](const DeviceRow& row) { return std::pair(row.id.size(), row.id); });
  return rows;
}

Result<std::vector<FigureRow>> ask_device(const Engine& engine, const EngineQuestion& question,
                                          const std::string& host, const std::string& device) {
  Questions questions(engine, question);
  const char* label = device.starts_with("0x") ? "unique_id" : "device";
  const std::string instance = "instance=" + quoted(host);
  const std::string here = fmt::format("{},{}={}", instance, label, quoted(device));
  std::vector<FigureRow> rows;
  const auto add = [&](const Sample& sample, const std::string& figure) {
    rows.push_back({sample.label("space"), figure, whole(sample.value)});
  };
  questions.ask(
      fmt::format("max by (space) ({})", questions.select("ttmem_memory_capacity_bytes", here)),
      [&](const Sample& sample) { add(sample, "capacity"); });
  questions.ask(
      fmt::format("max by (space, figure) ({})", questions.select("ttmem_memory_bytes", here)),
      [&](const Sample& sample) { add(sample, sample.label("figure")); });
  bool fresh = false;
  questions.ask(questions.fresh(instance), [&](const Sample&) { fresh = true; });
  questions.answer();
  if (questions.error()) return *questions.error();
  if (!fresh) return silence_of(engine, question, host);
  if (rows.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("Prometheus knows no figure of device {} of {}: ttmem fleet --host "
                             "lists its devices",
                             view::printable(device), view::printable(host))};
  }
  std::ranges::sort(rows, {},
                    [](const FigureRow& row) { return std::pair(row.space, row.figure); });
  return rows;
}

}  // namespace ttmem::fleet
