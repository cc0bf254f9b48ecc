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

#include "view/units.hpp"
#include "view/words.hpp"

namespace ttmem::view {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

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

// What differs between the metrics of a device and those of a process on it.
struct Names {
  const char* memory;
  const char* memory_help;
  const char* kernels;
  const char* kernels_help;
  const char* dispatches;
  const char* dispatches_help;
};

constexpr Names kDeviceNames = {
    "ttmem_memory_bytes",
    "Memory of a device, by space and figure; docs/figures.md defines the figures.",
    "ttmem_kernel_footprint_bytes",
    "Binary size x cores of loaded kernels: an upper bound, part of no sum.",
    "ttmem_dispatches_total",
    "Programs launched by the processes that the daemon has seen, by kind."};
constexpr Names kProcessNames = {"ttmem_process_memory_bytes",
                                 "Memory of one process on one device, by space and figure.",
                                 "ttmem_process_kernel_footprint_bytes",
                                 "Binary size x cores of the loaded kernels of one process.",
                                 "ttmem_process_dispatches_total",
                                 "Programs launched by one process, by kind."};

class FigureWriter {
 public:
  FigureWriter(Families& families, const Names& names, Labels labels)
      : families_(families), names_(names), labels_(std::move(labels)) {}

  void memory(std::string_view space, const char* figure, const ledger::Figure& value) {
    if (!value) return;
    families_.gauge(names_.memory, names_.memory_help,
                    with(with(labels_, "space", space), "figure", figure),
                    static_cast<double>(*value));
  }

  void figures(const ledger::DeviceFigures& figures) {
    for (const ledger::Space space : ledger::kDeviceSpaces) {
      const ledger::SpaceFigures& each = figures.space(space);
      memory(name(space), "taken", each.taken);
      memory(name(space), "occupied", each.occupied);
      memory(name(space), "requested", each.requested);
      memory(name(space), "peak", each.peak);
    }
    const ledger::ProgramL1Figures& program = figures.program_l1;
    memory("program_l1", "resident", program.resident);
    memory("program_l1", "reserved", program.reserved);
    memory("program_l1", "allocated", program.allocated);
    memory("program_l1", "peak", program.peak);
    memory("l1_total", "used", figures.l1_used);
    footprints(figures.kernels);
  }

  void dispatches(const CounterMemory::Counts& counts) {
    constexpr std::array kKinds = {"all", "first_load", "cache_hit", "reload"};
    static_assert(kKinds.size() == CounterMemory::kKinds);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      if (!counts[kind]) continue;
      families_.counter(names_.dispatches, names_.dispatches_help,
                        with(labels_, "kind", kKinds[kind]), static_cast<double>(*counts[kind]));
    }
  }

 private:
  void footprints(const ledger::KernelFigures& kernels) {
    if (!kernels.dispatches) return;  // a source that knows no programs
    for (std::size_t type = 0; type < ledger::kKernelTypes; ++type) {
      families_.gauge(names_.kernels, names_.kernels_help,
                      with(labels_, "type", name(static_cast<ledger::KernelType>(type))),
                      static_cast<double>(kernels.by_type[type].footprint));
    }
  }

  Families& families_;
  const Names& names_;
  Labels labels_;
};

CounterMemory::Counts counts_of(const ledger::KernelFigures& kernels) {
  return {kernels.dispatches, kernels.first_loads, kernels.cache_hits, kernels.reloads};
}

Labels device_labels(std::uint32_t id, std::uint64_t unique_id) {
  return {{"device", std::to_string(id)}, {"unique_id", unique_id_text(unique_id)}};
}

void add_capacity(Families& families, const Labels& labels, std::string_view space,
                  const ledger::Figure& value) {
  if (!value) return;
  families.gauge("ttmem_memory_capacity_bytes",
                 "What the allocators of a device can give out, by space.",
                 with(labels, "space", space), static_cast<double>(*value));
}

void add_device(Families& families, const ledger::DeviceView& device,
                const CounterMemory::Counts& launches) {
  const Labels labels = device_labels(device.id, device.unique_id);
  const ledger::DeviceFigures& figures = device.figures;
  families.gauge("ttmem_device_info", "Always 1; the labels say which device it is.",
                 with(with(with(labels, "arch", name(device.arch)), "board", device.board), "mock",
                      device.mock ? "true" : "false"),
                 1);
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    add_capacity(families, labels, name(space), figures.space(space).capacity);
  }
  add_capacity(families, labels, "l1_total", figures.l1_capacity);
  FigureWriter writer(families, kDeviceNames, labels);
  writer.figures(figures);
  writer.dispatches(launches);
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
      if (counts[kind] > 0) anomalies[anomaly_name(kind)] += counts[kind];
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
    families.gauge("ttmem_failures", "Allocations that failed, kept by the processes known.",
                   {{"kind", kind}}, static_cast<double>(count));
  }
  families.gauge("ttmem_unrecorded_events", "Events that the processes known could not record.", {},
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
    labels = with(std::move(labels), "name", process.name);
    labels = with(std::move(labels), "user", process.user);
    FigureWriter writer(families, kProcessNames, std::move(labels));
    writer.figures(device.figures);
    writer.dispatches(counts_of(device.figures.kernels));
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
