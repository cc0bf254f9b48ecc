// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ledger/figure_table.hpp"
#include "view/answer_shares.hpp"
#include "view/labels.hpp"
#include "view/metric_families.hpp"
#include "view/metrics_jobs.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::Figure;
using ledger::Metric;

// What differs between the metrics of a device and those of a process on it: by ledger::Metric,
// the name and the help of its family. A family without a name is not told.
struct Family {
  const char* name = nullptr;
  const char* help = nullptr;
};
using FamilyNames = std::array<Family, 5>;

constexpr FamilyNames kDeviceFamilies = {{
    {},
    {"ttmem_memory_bytes",
     "Memory of a device, by space and figure; docs/figures.md defines the figures."},
    {"ttmem_memory_capacity_bytes", "What the allocators of a device can give out, by space."},
    {"ttmem_kernel_footprint_bytes",
     "Binary size x cores of loaded kernels: an upper bound, part of no sum."},
    {"ttmem_dispatches_total",
     "Programs launched by the processes that the daemon has seen, by kind."},
}};
constexpr FamilyNames kProcessFamilies = {{
    {},
    {"ttmem_process_memory_bytes", "Memory of one process on one device, by space and figure."},
    {},
    {"ttmem_process_kernel_footprint_bytes",
     "Binary size x cores of the loaded kernels of one process."},
    {"ttmem_process_dispatches_total", "Programs launched by one process, by kind."},
}};

// Calls visit(i, kind, figure) for the figures that count launches, i < CounterMemory::kKinds.
template <typename Visit>
void for_each_launch_figure(const ledger::KernelFigures& kernels, Visit visit) {
  std::size_t i = 0;
  for (const auto& [member, row] : ledger::figure_table::kOfKernels) {
    if (row.metric != Metric::kLaunches) continue;
    // "cache_hits" are launches of the kind "cache_hit".
    const bool all = member == &ledger::KernelFigures::dispatches;
    visit(i++, all ? "all" : row.name.substr(0, row.name.size() - 1), kernels.*member);
  }
}

CounterMemory::Counts counts_of(const ledger::KernelFigures& kernels) {
  CounterMemory::Counts counts;
  for_each_launch_figure(
      kernels, [&](std::size_t i, std::string_view, const Figure& figure) { counts[i] = figure; });
  return counts;
}

class FigureWriter {
 public:
  FigureWriter(MetricFamilies& families, const FamilyNames& names, Labels labels)
      : families_(families), names_(names), labels_(std::move(labels)) {}

  void figures(const ledger::DeviceFigures& figures) {
    const auto write = [this](const ledger::FigureGroup& group, const ledger::FigureRow& row,
                              const Figure& figure) {
      const Family& family = names_[static_cast<std::size_t>(row.metric)];
      if (!figure || family.name == nullptr || row.metric == Metric::kLaunches) return;
      families_.gauge(family.name, family.help, labels_of(group, row), *figure);
    };
    ledger::for_each_figure(write, figures);
    ledger::for_each_derived_figure(write, figures);
  }

  void launches(const CounterMemory::Counts& counts) {
    const Family& family = names_[static_cast<std::size_t>(Metric::kLaunches)];
    for_each_launch_figure({}, [&](std::size_t i, std::string_view kind, const Figure&) {
      if (!counts[i]) return;
      families_.counter(family.name, family.help, labels_.with("kind", kind), *counts[i]);
    });
  }

 private:
  Labels labels_of(const ledger::FigureGroup& group, const ledger::FigureRow& row) const {
    if (row.metric == Metric::kFootprint) {
      return labels_.with("type", group.path.substr(group.path.find('.') + 1));
    }
    Labels labels = labels_.with("space", group.path);
    return row.metric == Metric::kMemory ? std::move(labels).with("figure", row.name) : labels;
  }

  MetricFamilies& families_;
  const FamilyNames& names_;
  Labels labels_;
};

Labels device_labels(std::uint32_t id, std::uint64_t unique_id) {
  return Labels("device", std::to_string(id)).with("unique_id", unique_id_text(unique_id));
}

// What the host measures; in the units that Prometheus asks for.
void add_sensors(MetricFamilies& families, const ledger::HostDevice& host, const Labels& labels) {
  const auto gauge = [&](const char* name, const char* help,
                         const std::optional<std::int64_t>& value, double per_unit) {
    if (value) families.gauge(name, help, labels, static_cast<double>(*value) / per_unit);
  };
  gauge("ttmem_device_temperature_celsius", "Temperature of the chip, as its driver tells.",
        host.temperature_millidegrees, 1e3);
  gauge("ttmem_device_power_watts", "Power of the chip, as its driver tells.",
        host.power_microwatts, 1e6);
  gauge("ttmem_device_clock_hertz", "Clock of the Tensix cores, as the driver tells.",
        host.aiclk_mhz, 1e-6);
  gauge("ttmem_device_voltage_volts", "Core voltage of the chip, as its driver tells.",
        host.voltage_millivolts, 1e3);
  gauge("ttmem_device_current_amperes", "Current of the chip, as its driver tells.",
        host.current_milliamperes, 1e3);
  gauge("ttmem_device_fan_rpm", "Turns of the fan per minute, as the driver tells.", host.fan_rpm,
        1);
}

void add_headroom_and_processes(MetricFamilies& families, const ledger::DeviceView& device,
                                const Labels& labels) {
  if (device.figures.headroom.min) {
    families.gauge(
        "ttmem_headroom_bytes",
        "Room between program L1 and L1 buffers on the tightest core; negative: a clash.", labels,
        *device.figures.headroom.min);
  }
  families.gauge("ttmem_device_processes", "Live processes that have the device open.", labels,
                 std::uint64_t{device.processes});
}

void add_device(MetricFamilies& families, const ledger::DeviceView& device,
                const CounterMemory::Counts& launches) {
  const Labels labels = device_labels(device.id, device.unique_id);
  families.gauge("ttmem_device_info", "Always 1; the labels say which device it is.",
                 labels.with("arch", name(device.arch))
                     .with("board", device.board)
                     .with("mock", device.mock ? "true" : "false"),
                 std::uint64_t{1});
  if (device.host) add_sensors(families, *device.host, labels);
  FigureWriter writer(families, kDeviceFamilies, labels);
  writer.figures(device.figures);
  writer.launches(launches);
  add_headroom_and_processes(families, device, labels);
}

// What a wall of ten thousand hosts needs of a device, in the families of the whole set: eight
// series, so that nobody has to drop the others after they were sent.
void add_device_in_short(MetricFamilies& families, const ledger::DeviceView& device) {
  struct Short {
    std::string_view space, figure;
  };
  constexpr std::array<Short, 6> kShort = {{{"dram", "capacity"},
                                            {"l1_total", "capacity"},
                                            {"dram", "taken"},
                                            {"l1", "taken"},
                                            {"trace", "taken"},
                                            {"l1_total", "used"}}};
  const Labels labels = device_labels(device.id, device.unique_id);
  const auto write = [&](const ledger::FigureGroup& group, const ledger::FigureRow& row,
                         const Figure& figure) {
    if (!figure) return;
    for (const Short& wanted : kShort) {
      if (group.path != wanted.space || row.name != wanted.figure) continue;
      const Family& family = kDeviceFamilies[static_cast<std::size_t>(row.metric)];
      Labels own = labels.with("space", group.path);
      if (row.metric == Metric::kMemory) own = std::move(own).with("figure", row.name);
      families.gauge(family.name, family.help, own, *figure);
    }
  };
  ledger::for_each_figure(write, device.figures);
  ledger::for_each_derived_figure(write, device.figures);
  add_headroom_and_processes(families, device, labels);
}

// Of a device where the steps of nobody are known, nothing is said: 0 would be a promise.
void add_leaks(MetricFamilies& families, const ledger::Snapshot& snapshot,
               const explain::LeakReport& leaks) {
  std::set<std::uint32_t> known;
  for (const explain::WatchedProcess& watched : leaks.processes) {
    if (!watched.is_known) continue;
    for (const ledger::ProcessView& process : snapshot.processes) {
      if (!process.alive || !process.is(*watched.process)) continue;
      for (const ledger::ProcessDeviceView& device : process.devices) known.insert(device.id);
    }
  }
  const auto count = [](const auto& list, std::uint32_t device) {
    return static_cast<std::uint64_t>(
        std::ranges::count(list, device, [](const auto& each) { return each.device; }));
  };
  for (const ledger::DeviceView& device : snapshot.devices) {
    if (!known.contains(device.id)) continue;
    const Labels labels = device_labels(device.id, device.unique_id);
    const auto gauge = [&](const char* kind, std::uint64_t value) {
      families.gauge("ttmem_leak_suspects",
                     "What grows from step to step of the processes on a device, by kind.",
                     labels.with("kind", kind), value);
    };
    gauge("line", count(leaks.suspects, device.id));
    gauge("lowest_l1", count(leaks.falling, device.id));
    gauge("program_cache", count(leaks.caches, device.id));
  }
}

void add_processes(MetricFamilies& families, const ledger::Snapshot& snapshot) {
  std::map<std::string_view, std::uint64_t> by_state = {
      {"alive", 0}, {"closed", 0}, {"died", 0}, {"exec", 0}};
  std::map<std::string, std::uint64_t> anomalies, failures;
  std::uint64_t unrecorded = 0;
  for (const ledger::ProcessView& process : snapshot.processes) {
    ++by_state[process.alive ? "alive" : name(process.ended)];
    const std::vector<std::uint64_t>& counts = process.tracking.anomalies;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      if (counts[kind] > 0) anomalies[ledger::anomaly_name(kind)] += counts[kind];
    }
    for (const ledger::FailureView& failure : process.failures) ++failures[failure.kind];
    unrecorded += process.tracking.unrecorded;
  }
  for (const auto& [state, count] : by_state) {
    families.gauge("ttmem_processes", "Processes that are known, by what became of them.",
                   Labels("state", state), count);
  }
  for (const auto& [kind, count] : anomalies) {
    families.gauge("ttmem_anomalies",
                   "Reports that could not be matched, of the processes that are known.",
                   Labels("kind", kind), count);
  }
  for (const auto& [kind, count] : failures) {
    families.gauge("ttmem_failures", "Failed allocations that the known processes kept.",
                   Labels("kind", kind), count);
  }
  families.gauge("ttmem_unrecorded_events", "Events that the known processes could not record.", {},
                 unrecorded);
  families.gauge("ttmem_unreadable_segments", "Segments that exist and could not be read.", {},
                 std::uint64_t{snapshot.unreadable.size()});
}

// What identifies a process. Two in different containers may share pid and start.
Labels process_labels(const ledger::ProcessView& process) {
  return Labels("pid", std::to_string(process.pid))
      .with("start", std::to_string(process.start))
      .with("segment", process.segment);
}

void add_each_process(MetricFamilies& families, const ledger::ProcessView& process) {
  const Labels labels = process_labels(process);
  families.gauge("ttmem_process_info", "Always 1; the labels say which process it is.",
                 with_job(labels.with("name", process.name)
                              .with("user", process.user)
                              .with("container_id", process.container),
                          process),
                 std::uint64_t{1});
  if (process.started != 0) {
    families.gauge("ttmem_process_start_time_seconds", "When the process started, since 1970.",
                   labels, static_cast<double>(process.started) / 1e9);
  }
  for (const ledger::ProcessDeviceView& device : process.devices) {
    FigureWriter writer(families, kProcessFamilies,
                        labels.with("device", std::to_string(device.id))
                            .with("unique_id", unique_id_text(device.unique_id)));
    writer.figures(device.figures);
    writer.launches(counts_of(device.figures.kernels));
  }
}

// Whole processes, as long as their pairs of process and device stay within their user's share.
void add_every_process(MetricFamilies& families, const ledger::Snapshot& snapshot) {
  AnswerShares shares(kMostProcessPairs);
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.alive) shares.add(process);
  }
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (!process.alive || !shares.take(process.key, process.devices.size())) continue;
    add_each_process(families, process);
  }
  families.gauge("ttmem_process_series_left_out",
                 "Live processes without series of their own, because there are too many.", {},
                 shares.left_out());
}

// Of the daemon itself what everybody needs: that it answers, and since when its counters count.
void add_changes(MetricFamilies& families, const SelfFigures& self) {
  if (self.started_ns != 0) {
    families.gauge("ttmem_self_start_time_seconds", "When the daemon started, since 1970.", {},
                   static_cast<double>(self.started_ns) / 1e9);
  }
  families.counter("ttmem_self_snapshots_total", "How often something had changed.", {},
                   self.snapshots);
}

void add_self(MetricFamilies& families, const SelfFigures& self) {
  families.counter("ttmem_self_cpu_seconds_total", "Processor time of the daemon.", {},
                   self.cpu_seconds);
  families.gauge("ttmem_self_resident_bytes", "Resident memory of the daemon.", {},
                 self.resident_bytes);
  families.counter("ttmem_self_refresh_seconds_total", "Time spent in reading sources.", {},
                   self.refresh_seconds);
  families.counter("ttmem_self_refreshes_total", "How often sources were read.", {},
                   self.refreshes);
  families.gauge("ttmem_self_connections", "Open connections.", {}, self.connections);
  families.counter("ttmem_self_requests_total", "Requests answered.", {}, self.requests);
  families.counter("ttmem_self_dropped_total", "Readers dropped because they were too slow.", {},
                   self.dropped);
  families.gauge("ttmem_self_history_bytes", "Size of the history file.", {}, self.history_bytes);
  families.counter("ttmem_self_history_lost_total", "Rows of history that could not be written.",
                   {}, self.history_lost);
  families.gauge("ttmem_self_loop_pause_seconds",
                 "The longest time that one task made all others wait, since the start.", {},
                 self.loop_pause_seconds);
  families.gauge("ttmem_self_loop_cpu_seconds",
                 "The most processor time that one turn of the loop took, since the start.", {},
                 self.loop_cpu_seconds);
  families.gauge("ttmem_self_work_cpu_seconds",
                 "The most processor time that one look or one answer took, since the start.", {},
                 self.work_cpu_seconds);
}

}  // namespace

void CounterMemory::observe(const ledger::Snapshot& snapshot) {
  std::map<Launcher, Counts> seen;
  for (const ledger::ProcessView& process : snapshot.processes) {
    for (const ledger::ProcessDeviceView& device : process.devices) {
      const Launcher who{process.pid, process.start, process.segment, device.unique_id};
      const Counts now = counts_of(device.figures.kernels);
      const auto before = seen_.find(who);
      Counts& totals = totals_[device.unique_id];
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        if (!now[kind]) continue;
        const std::uint64_t last = before == seen_.end() ? 0 : before->second[kind].value_or(0);
        totals[kind] = totals[kind].value_or(0) + (*now[kind] > last ? *now[kind] - last : 0);
      }
      seen[who] = now;
    }
  }
  seen_ = std::move(seen);
  observe_lives(snapshot);
}

void CounterMemory::observe_lives(const ledger::Snapshot& snapshot) {
  std::map<Who, Life> lives;
  for (const ledger::ProcessView& process : snapshot.processes) {
    const Who who{process.pid, process.start, process.segment};
    const auto found = lives_.find(who);
    const Life before = found == lives_.end() ? Life{} : found->second;
    const Life now{std::max(process.failure_count, before.failures),
                   !process.alive && process.ended == ledger::Ended::kDied};
    failures_ += now.failures - before.failures;
    deaths_ += now.died && !before.died ? 1 : 0;
    lives[who] = now;
  }
  lives_ = std::move(lives);
}

CounterMemory::Counts CounterMemory::totals(std::uint64_t unique_id) const {
  const auto found = totals_.find(unique_id);
  return found == totals_.end() ? Counts{} : found->second;
}

Result<MetricsOptions> metrics_options(const std::vector<std::string>& collected) {
  MetricsOptions options{.devices = false, .per_process = false, .in_short = false, .jobs = false};
  for (const std::string& set : collected) {
    if (set == "device") {
      options.devices = true;
    } else if (set == "process") {
      options.per_process = true;
    } else if (set == "job") {
      options.jobs = true;
    } else if (set == "short") {
      options.in_short = true;
    } else {
      return Error{ErrorCode::kWrongKind,
                   "collect[] takes device, process, job and short, not '" + set + "'"};
    }
  }
  return options;
}

std::string metrics_text(const ledger::Snapshot& snapshot, const MetricsOptions& options,
                         const SelfFigures& self, CounterMemory& memory,
                         const explain::LeakReport& leaks) {
  memory.observe(snapshot);
  MetricFamilies families;
  for (const ledger::DeviceView& device : snapshot.devices) {
    if (options.devices) {
      add_device(families, device, memory.totals(device.unique_id));
    } else if (options.in_short) {
      add_device_in_short(families, device);
    }
  }
  if (options.devices) add_leaks(families, snapshot, leaks);
  if (options.devices) {
    add_processes(families, snapshot);
    families.counter("ttmem_failures_total", "Allocations that failed, since the daemon started.",
                     {}, memory.failures());
    families.counter("ttmem_deaths_total",
                     "Processes that died without closing, since the daemon started.", {},
                     memory.deaths());
  }
  if (options.jobs) add_jobs(families, snapshot);
  if (options.per_process) add_every_process(families, snapshot);
  const bool only_short = options.in_short && !options.devices && !options.per_process;
  if (!only_short) add_self(families, self);
  add_changes(families, self);
  return families.text();
}

}  // namespace ttmem::view
