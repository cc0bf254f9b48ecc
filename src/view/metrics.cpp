// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metrics.hpp"

#include <array>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "ledger/figure_table.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using ledger::Figure;
using ledger::Metric;

// Families in the order of their first value; a family without a value is not written.
class Families {
 public:
  void gauge(const char* name, const char* help, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    family(name, help, MetricType::Gauge).metric.push_back(std::move(metric));
  }
  void counter(const char* name, const char* help, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;
    family(name, help, MetricType::Counter).metric.push_back(std::move(metric));
  }
  std::string text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return out.str();
  }

 private:
  MetricFamily& family(const char* name, const char* help, MetricType type) {
    const auto [place, is_new] = places_.try_emplace(name, families_.size());
    if (is_new) families_.push_back({name, help, type, {}});
    return families_[place->second];
  }

  std::vector<MetricFamily> families_;
  std::map<std::string_view, std::size_t> places_;
};

Labels with(Labels labels, const char* name, std::string_view value) {
  labels.push_back({name, std::string(value)});
  return labels;
}

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
  FigureWriter(Families& families, const FamilyNames& names, Labels labels)
      : families_(families), names_(names), labels_(std::move(labels)) {}

  void figures(const ledger::DeviceFigures& figures) {
    const auto write = [this](const ledger::FigureGroup& group, const ledger::FigureRow& row,
                              const Figure& figure) {
      const Family& family = names_[static_cast<std::size_t>(row.metric)];
      if (!figure || family.name == nullptr || row.metric == Metric::kLaunches) return;
      families_.gauge(family.name, family.help, labels_of(group, row),
                      static_cast<double>(*figure));
    };
    ledger::for_each_figure(write, figures);
    ledger::for_each_derived_figure(write, figures);
  }

  void launches(const CounterMemory::Counts& counts) {
    const Family& family = names_[static_cast<std::size_t>(Metric::kLaunches)];
    for_each_launch_figure({}, [&](std::size_t i, std::string_view kind, const Figure&) {
      if (!counts[i]) return;
      families_.counter(family.name, family.help, with(labels_, "kind", kind),
                        static_cast<double>(*counts[i]));
    });
  }

 private:
  Labels labels_of(const ledger::FigureGroup& group, const ledger::FigureRow& row) const {
    if (row.metric == Metric::kFootprint) {
      return with(labels_, "type", group.path.substr(group.path.find('.') + 1));
    }
    Labels labels = with(labels_, "space", group.path);
    return row.metric == Metric::kMemory ? with(std::move(labels), "figure", row.name) : labels;
  }

  Families& families_;
  const FamilyNames& names_;
  Labels labels_;
};

Labels device_labels(std::uint32_t id, std::uint64_t unique_id) {
  return {{"device", std::to_string(id)}, {"unique_id", unique_id_text(unique_id)}};
}

// What the host measures; in the units that Prometheus asks for.
void add_sensors(Families& families, const ledger::HostDevice& host, const Labels& labels) {
  const auto gauge = [&](const char* name, const char* help,
                         const std::optional<std::int64_t>& value, double unit) {
    if (value) families.gauge(name, help, labels, static_cast<double>(*value) * unit);
  };
  gauge("ttmem_device_temperature_celsius", "Temperature of the chip, as its driver tells.",
        host.temperature_millidegrees, 1e-3);
  gauge("ttmem_device_power_watts", "Power of the chip, as its driver tells.",
        host.power_microwatts, 1e-6);
  gauge("ttmem_device_clock_hertz", "Clock of the Tensix cores, as the driver tells.",
        host.aiclk_mhz, 1e6);
  gauge("ttmem_device_voltage_volts", "Core voltage of the chip, as its driver tells.",
        host.voltage_millivolts, 1e-3);
  gauge("ttmem_device_current_amperes", "Current of the chip, as its driver tells.",
        host.current_milliamperes, 1e-3);
  gauge("ttmem_device_fan_rpm", "Turns of the fan per minute, as the driver tells.", host.fan_rpm,
        1);
}

void add_device(Families& families, const ledger::DeviceView& device,
                const CounterMemory::Counts& launches) {
  const Labels labels = device_labels(device.id, device.unique_id);
  const ledger::DeviceFigures& figures = device.figures;
  families.gauge("ttmem_device_info", "Always 1; the labels say which device it is.",
                 with(with(with(labels, "arch", name(device.arch)), "board", device.board), "mock",
                      device.mock ? "true" : "false"),
                 1);
  if (device.host) add_sensors(families, *device.host, labels);
  FigureWriter writer(families, kDeviceFamilies, labels);
  writer.figures(figures);
  writer.launches(launches);
  if (figures.headroom.min) {
    families.gauge(
        "ttmem_headroom_bytes",
        "Room between program L1 and L1 buffers on the tightest core; negative: a clash.", labels,
        static_cast<double>(*figures.headroom.min));
  }
  families.gauge("ttmem_device_processes", "Live processes that have the device open.", labels,
                 device.processes);
}

void add_processes(Families& families, const ledger::Snapshot& snapshot) {
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
                   {{"state", std::string(state)}}, static_cast<double>(count));
  }
  for (const auto& [kind, count] : anomalies) {
    families.gauge("ttmem_anomalies",
                   "Reports that could not be matched, of the processes that are known.",
                   {{"kind", kind}}, static_cast<double>(count));
  }
  for (const auto& [kind, count] : failures) {
    families.gauge("ttmem_failures", "Failed allocations that the known processes kept.",
                   {{"kind", kind}}, static_cast<double>(count));
  }
  families.gauge("ttmem_unrecorded_events", "Events that the known processes could not record.", {},
                 static_cast<double>(unrecorded));
  families.gauge("ttmem_unreadable_segments", "Segments that exist and could not be read.", {},
                 static_cast<double>(snapshot.unreadable.size()));
}

void add_each_process(Families& families, const ledger::ProcessView& process) {
  if (!process.alive) return;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    Labels labels = device_labels(device.id, device.unique_id);
    labels = with(std::move(labels), "pid", std::to_string(process.pid));
    labels = with(std::move(labels), "start", std::to_string(process.start));
    labels = with(std::move(labels), "segment", process.segment);
    labels = with(std::move(labels), "name", process.name);
    labels = with(std::move(labels), "user", process.user);
    FigureWriter writer(families, kProcessFamilies, std::move(labels));
    writer.figures(device.figures);
    writer.launches(counts_of(device.figures.kernels));
  }
}

void add_self(Families& families, const SelfFigures& self) {
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  families.counter("ttmem_self_cpu_seconds_total", "Processor time of the daemon.", {},
                   self.cpu_seconds);
  families.gauge("ttmem_self_resident_bytes", "Resident memory of the daemon.", {},
                 count(self.resident_bytes));
  families.counter("ttmem_self_refresh_seconds_total", "Time spent in reading sources.", {},
                   self.refresh_seconds);
  families.counter("ttmem_self_refreshes_total", "How often sources were read.", {},
                   count(self.refreshes));
  families.counter("ttmem_self_snapshots_total", "How often something had changed.", {},
                   count(self.snapshots));
  families.gauge("ttmem_self_connections", "Open connections.", {}, count(self.connections));
  families.counter("ttmem_self_requests_total", "Requests answered.", {}, count(self.requests));
  families.counter("ttmem_self_dropped_total", "Readers dropped because they were too slow.", {},
                   count(self.dropped));
  families.gauge("ttmem_self_history_bytes", "Size of the history file.", {},
                 count(self.history_bytes));
  families.counter("ttmem_self_history_lost_total", "Rows of history that could not be written.",
                   {}, count(self.history_lost));
  families.gauge("ttmem_self_loop_pause_seconds",
                 "The longest time that one task made all others wait, since the start.", {},
                 self.loop_pause_seconds);
  families.gauge("ttmem_self_loop_cpu_seconds",
                 "The most processor time that one turn of the loop took, since the start.", {},
                 self.loop_cpu_seconds);
}

}  // namespace

bool metrics_available() { return true; }

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
}

CounterMemory::Counts CounterMemory::totals(std::uint64_t unique_id) const {
  const auto found = totals_.find(unique_id);
  return found == totals_.end() ? Counts{} : found->second;
}

std::string metrics_text(const ledger::Snapshot& snapshot, const MetricsOptions& options,
                         const SelfFigures& self, CounterMemory& memory) {
  memory.observe(snapshot);
  Families families;
  for (const ledger::DeviceView& device : snapshot.devices) {
    add_device(families, device, memory.totals(device.unique_id));
  }
  add_processes(families, snapshot);
  if (options.per_process) {
    for (const ledger::ProcessView& each : snapshot.processes) add_each_process(families, each);
  }
  add_self(families, self);
  return families.text();
}

}  // namespace ttmem::view
