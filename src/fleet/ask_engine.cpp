// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/ask_engine.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

// Hosts that told something in this time are known, even if they are silent now.
constexpr const char* kMemory = "1h";

std::uint64_t whole(double value) {
  constexpr double kMost = 1.8e19;
  return value <= 0 ? 0 : static_cast<std::uint64_t>(std::min(std::round(value), kMost));
}

std::int64_t whole_signed(double value) {
  constexpr double kMost = 9.2e18;
  return static_cast<std::int64_t>(std::clamp(std::round(value), -kMost, kMost));
}

// Asks one question after the other, and gives up at the first that is not answered.
class Questions {
 public:
  Questions(const Engine& engine, const EngineQuestion& question)
      : engine_(engine), question_(question) {}

  // name{matchers}, with what was asked for in addition.
  std::string select(const std::string& name, const std::string& matchers = "") const {
    const bool both = !matchers.empty() && !question_.match.empty();
    return fmt::format("{}{{{}{}{}}}", name, matchers, both ? "," : "", question_.match);
  }
  // A figure of each device, once, whoever scrapes it how often.
  std::string by_device(const std::string& name, const std::string& matchers = "") const {
    return fmt::format("max by (instance, unique_id) ({})", select(name, matchers));
  }

  // Calls `each` with every sample; nothing if an earlier question failed.
  void ask(const std::string& expression, const std::function<void(const Sample&)>& each) {
    if (error_) return;
    const auto samples = engine_.query(expression);
    if (!samples) {
      error_ = samples.error();
      return;
    }
    for (const Sample& sample : *samples) each(sample);
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  const Engine& engine_;
  const EngineQuestion& question_;
  std::optional<Error> error_;
};

// ---- hosts

using Hosts = std::map<std::string, HostRow>;

std::string duration(std::uint64_t seconds) {
  return seconds < 120 ? fmt::format("{} s", seconds) : fmt::format("{} min", seconds / 60);
}

// Who is there: everybody who told something within the last hour, and when that was.
void find_hosts(Questions& questions, const EngineQuestion& question, Hosts& hosts,
                std::vector<std::string>& problems) {
  const std::string seen = questions.select("ttmem_self_snapshots_total");
  questions.ask(fmt::format("group by (instance) (last_over_time({}[{}]))", seen, kMemory),
                [&](const Sample& sample) {
                  HostRow& row = hosts[sample.label("instance")];
                  row.name = sample.label("instance");
                  row.state = HostState::kStale;
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
                  const bool fresh = sample.value <= question.stale_seconds;
                  row.state = fresh ? HostState::kFresh : HostState::kStale;
                });
  questions.ask(fmt::format("count by (instance) ({}) > 1", seen), [&](const Sample& sample) {
    problems.push_back(
        fmt::format("{} is scraped {} times, or two hosts have this name: it is counted once",
                    view::printable(sample.label("instance")), whole(sample.value)));
  });
  for (auto& [name, row] : hosts) {
    if (row.state == HostState::kFresh) continue;
    row.problem = row.age_ns
                      ? fmt::format("told nothing for {}", duration(*row.age_ns / 1'000'000'000))
                      : std::string("told something within the last hour, and not since");
  }
}

// Figures of hosts that are fresh; what an engine still remembers of others is not told as now.
void add_host_figures(Questions& questions, Hosts& hosts) {
  const auto each = [&](const std::string& expression,
                        const std::function<void(HostRow&, double)>& set) {
    questions.ask(expression, [&](const Sample& sample) {
      const auto found = hosts.find(sample.label("instance"));
      if (found == hosts.end() || found->second.state != HostState::kFresh) return;
      set(found->second, sample.value);
    });
  };
  const auto sum = [&](const std::string& name, const std::string& matchers) {
    return fmt::format("sum by (instance) ({})", questions.by_device(name, matchers));
  };
  each(fmt::format("count by (instance) ({})", questions.by_device("ttmem_device_processes")),
       [](HostRow& row, double value) { row.devices = whole(value); });
  each(sum("ttmem_memory_bytes", R"(space="dram",figure="taken")"),
       [](HostRow& row, double value) { row.dram = whole(value); });
  each(sum("ttmem_memory_capacity_bytes", R"(space="dram")"),
       [](HostRow& row, double value) { row.dram_capacity = whole(value); });
  each(sum("ttmem_memory_bytes", R"(space="l1_total",figure="used")"),
       [](HostRow& row, double value) { row.l1 = whole(value); });
  each(sum("ttmem_memory_capacity_bytes", R"(space="l1_total")"),
       [](HostRow& row, double value) { row.l1_capacity = whole(value); });
  each(fmt::format("min by (instance) ({})", questions.select("ttmem_headroom_bytes")),
       [](HostRow& row, double value) { row.headroom = whole_signed(value); });
  each(fmt::format("max by (instance) ({})",
                   questions.select("ttmem_processes", R"(state="alive")")),
       [](HostRow& row, double value) { row.processes = whole(value); });
  for (auto& [name, row] : hosts) {
    if (row.state == HostState::kFresh && !row.devices) row.devices = 0;
  }
}

// ---- jobs

using Jobs = std::map<std::pair<std::string, std::string>, JobRow>;

void add_jobs(Questions& questions, Jobs& jobs) {
  const auto each = [&](const std::string& expression,
                        const std::function<void(JobRow&, const Sample&)>& set) {
    questions.ask(expression, [&](const Sample& sample) {
      JobRow& row = jobs[{sample.label("workload"), sample.label("user")}];
      row.key = sample.label("workload");
      row.user = sample.label("user");
      set(row, sample);
    });
  };
  // Of each host once.
  const auto once = [&](const std::string& name, const std::string& matchers = "") {
    return fmt::format("max by (instance, workload, user) ({})", questions.select(name, matchers));
  };
  const auto over = [](const char* function, const std::string& what) {
    return fmt::format("{} by (workload, user) ({})", function, what);
  };
  const auto memory = [&](const std::string& space, const std::string& figure) {
    return once("ttmem_job_memory_bytes", fmt::format(R"(space="{}",figure="{}")", space, figure));
  };
  const auto bytes = [&](const std::string& expression, ledger::Figure JobRow::* member) {
    each(expression,
         [member](JobRow& row, const Sample& sample) { row.*member = whole(sample.value); });
  };
  const auto count = [&](const std::string& expression,
                         std::optional<std::uint64_t> JobRow::* member) {
    each(expression,
         [member](JobRow& row, const Sample& sample) { row.*member = whole(sample.value); });
  };
  count(over("sum", once("ttmem_job_ranks")), &JobRow::present);
  count(over("count", once("ttmem_job_ranks") + " > 0"), &JobRow::hosts);
  count(over("max", once("ttmem_job_expected_ranks")), &JobRow::expected);
  count(over("sum", once("ttmem_job_died_ranks")), &JobRow::died);
  bytes(over("sum", memory("dram", "taken")), &JobRow::dram);
  bytes(over("sum", memory("l1", "taken")), &JobRow::l1);
  bytes(over("min", memory("dram", "least_rank")), &JobRow::dram_least);
  bytes(over("max", memory("dram", "most_rank")), &JobRow::dram_most);
  each(fmt::format("bottomk by (workload, user) (1, {})",
                   questions.select("ttmem_job_headroom_bytes")),
       [](JobRow& row, const Sample& sample) {
         row.headroom = whole_signed(sample.value);
         row.headroom_rank = sample.label("rank");
         row.headroom_host = sample.label("instance");
       });
  each(fmt::format("group by (workload, user, name) ({})", questions.select("ttmem_job_info")),
       [](JobRow& row, const Sample& sample) { row.name = sample.label("name"); });
}

void add_alerts(Questions& questions, Fleet& fleet) {
  questions.ask(questions.select("ALERTS", R"(alertname=~"Ttmem.*",alertstate="firing")"),
                [&](const Sample& sample) {
                  std::string text = sample.label("alertname");
                  if (!sample.label("instance").empty()) text += " on " + sample.label("instance");
                  if (!sample.label("device").empty()) {
                    text += " device " + sample.label("device");
                  }
                  fleet.alerts.push_back(view::printable(text));
                });
  std::ranges::sort(fleet.alerts);
}

Error unknown_host(const std::string& host) {
  return {ErrorCode::kNotFound, fmt::format("the engine knows no host {}: ttmem fleet lists them",
                                            view::printable(host))};
}

}  // namespace

Result<Fleet> ask_fleet(const Engine& engine, const EngineQuestion& question) {
  Questions questions(engine, question);
  Fleet fleet;
  fleet.source = engine.name();
  fleet.time_ns = question.now_ns;
  Hosts hosts;
  Jobs jobs;
  find_hosts(questions, question, hosts, fleet.problems);
  add_host_figures(questions, hosts);
  add_jobs(questions, jobs);
  add_alerts(questions, fleet);
  if (questions.error()) return *questions.error();
  for (auto& [name, row] : hosts) fleet.hosts.push_back(std::move(row));
  for (auto& [key, row] : jobs) fleet.jobs.push_back(std::move(row));
  for (const std::string& warning : engine.warnings()) {
    fleet.problems.push_back("the engine warns: " + view::printable(warning));
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
        [&](const Sample& sample) {
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
  bool known = !devices.empty();
  questions.ask(questions.select("ttmem_self_snapshots_total", here),
                [&](const Sample&) { known = true; });
  if (questions.error()) return *questions.error();
  if (!known) return unknown_host(host);
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
  const std::string here = fmt::format("instance={},{}={}", quoted(host), label, quoted(device));
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
  if (questions.error()) return *questions.error();
  if (rows.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the engine knows no figure of device {} of {}: ttmem fleet --host "
                             "lists its devices",
                             view::printable(device), view::printable(host))};
  }
  std::ranges::sort(rows, {},
                    [](const FigureRow& row) { return std::pair(row.space, row.figure); });
  return rows;
}

}  // namespace ttmem::fleet
