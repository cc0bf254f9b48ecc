// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "ledger/figure_table.hpp"
#include "serve/history/known_subjects.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {
namespace {

using ledger::DeviceFigures;
using ledger::Figure;
using ledger::FigureGroup;
using ledger::FigureRow;
using ledger::Past;

// Calls visit(group, row, figure) for the figures whose past is kept.
template <typename Visit>
void for_each_kept(Subject subject, const DeviceFigures& figures, Visit visit) {
  ledger::for_each_figure(
      [&](const FigureGroup& group, const FigureRow& row, const Figure& figure) {
        const bool of_process = row.past == Past::kOfProcessesToo && group.past_of_processes;
        if (subject == Subject::kDevice ? row.past != Past::kForgotten : of_process) {
          visit(group, row, figure);
        }
      },
      figures);
}

// "dram.taken". The past of kernels is that of their footprint, and bears their name alone.
std::string name_of(const FigureGroup& group, const FigureRow& row) {
  const bool footprint = row.metric == ledger::Metric::kFootprint;
  return footprint ? std::string(group.path) : fmt::format("{}.{}", group.path, row.name);
}

struct Sensor {
  std::string_view name, unit, help;
  std::optional<std::int64_t> ledger::HostDevice::* member;
};
constexpr std::array kSensors = {
    Sensor{"temperature", "millidegrees",
           "Temperature of the chip, in thousandths of a degree Celsius.",
           &ledger::HostDevice::temperature_millidegrees},
    Sensor{"power", "microwatts", "Power of the chip.", &ledger::HostDevice::power_microwatts},
    Sensor{"clock", "MHz", "Clock of the Tensix cores.", &ledger::HostDevice::aiclk_mhz},
};

struct Metrics {
  std::vector<MetricInfo> all;
  std::vector<std::optional<ledger::Space>> peaks;
  std::size_t of_devices = 0;

  Metrics() {
    add_kept(Subject::kDevice, "", "");
    add({std::string(kDispatchesMetric), "dispatches/s", Subject::kDevice,
         "Programs launched per second."});
    add({"headroom.min", "bytes", Subject::kDevice,
         "Room between program L1 and L1 buffers on the tightest core; negative: a clash."});
    add({std::string(kProcessesMetric), "processes", Subject::kDevice,
         "Live processes that have the device open."});
    for (const Sensor& sensor : kSensors) {
      add({std::string(sensor.name), std::string(sensor.unit), Subject::kDevice,
           std::string(sensor.help)});
    }
    of_devices = all.size();
    add_kept(Subject::kProcess, "process.", " One process, on all its devices.");
    add({std::string(kProcessDispatchesMetric), "dispatches/s", Subject::kProcess,
         "Programs launched per second. One process, on all its devices."});
  }

 private:
  void add(MetricInfo info, std::optional<ledger::Space> peak = {}) {
    all.push_back(std::move(info));
    peaks.push_back(peak);
  }

  void add_kept(Subject subject, std::string_view prefix, std::string_view suffix) {
    for_each_kept(subject, {}, [&](const FigureGroup& group, const FigureRow& row, const Figure&) {
      const bool has_peak = row.name == "taken";
      add({fmt::format("{}{}", prefix, name_of(group, row)), std::string(name(row.unit)), subject,
           fmt::format("{} {}: {}.{}", group.label, row.name, row.definition, suffix)},
          has_peak ? group.space : std::nullopt);
    });
  }
};

const Metrics& table() {
  static const Metrics kTable;
  return kTable;
}

}  // namespace

const std::vector<MetricInfo>& metrics() { return table().all; }
std::size_t device_metric_count() { return table().of_devices; }
std::optional<ledger::Space> peak_of(std::size_t metric) { return table().peaks.at(metric); }

std::optional<std::size_t> metric_number(std::string_view name) {
  const auto found = std::ranges::find(metrics(), name, &MetricInfo::name);
  if (found == metrics().end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics().begin());
}

std::vector<Value> device_values(const DeviceFigures& figures) {
  std::vector<Value> values;
  for_each_kept(Subject::kDevice, figures,
                [&](const FigureGroup&, const FigureRow&, const Figure& figure) {
                  values.push_back(to_value(figure));
                });
  values.insert(values.end(), {std::nullopt, figures.headroom.min, std::nullopt});
  values.resize(values.size() + kSensors.size());
  return values;
}

// At their places among those of a device.
void add_sensors(const ledger::DeviceView& device, std::vector<Value>& values) {
  if (!device.host) return;
  for (std::size_t i = 0; i < kSensors.size(); ++i) {
    values.at(device_metric_count() - kSensors.size() + i) = *device.host.*kSensors[i].member;
  }
}

Value to_value(const Figure& figure) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!figure) return std::nullopt;
  return static_cast<std::int64_t>(std::min(*figure, kLargest));
}

namespace {

using Peaks = std::array<Value, ledger::kSpaces>;

Value peak_in(const Peaks& peaks, std::size_t metric) {
  const auto space = peak_of(metric);
  return space ? peaks[static_cast<std::size_t>(*space)] : std::nullopt;
}

// A device was at least as full as any one of its processes; with one process, exactly so.
std::map<std::uint64_t, Peaks> risen_by_device(const KnownRuns& runs) {
  std::map<std::uint64_t, Peaks> all;
  for (const auto& [identity, known] : runs.all()) {
    if (!known.present) continue;
    for (const auto& [number, device] : known.devices) {
      Peaks& peaks = all[number];
      for (std::size_t space = 0; space < peaks.size(); ++space) {
        if (device.risen[space]) {
          peaks[space] = std::max(peaks[space].value_or(0), *device.risen[space]);
        }
      }
    }
  }
  return all;
}

void sample_device(const ledger::DeviceView& view, std::uint64_t number, const Peaks& risen,
                   Tracks& tracks) {
  static const std::size_t kProcesses = metric_number(kProcessesMetric).value();
  static const std::size_t kDispatches = metric_number(kDispatchesMetric).value();
  std::vector<Value> values = device_values(view.figures);
  TTMEM_DCHECK(values.size() == device_metric_count());
  values.at(kProcesses) = view.processes;
  add_sensors(view, values);
  for (std::size_t metric = 0; metric < values.size(); ++metric) {
    if (metric == kDispatches) {
      tracks.keep({metric, number});  // settle_rates() observes it
    } else {
      tracks.observe({metric, number}, values[metric], peak_in(risen, metric));
    }
  }
}

// The figures of a process that are kept, in the order of its metrics; its rate of launches, which
// settle_rates() observes, comes after them.
std::vector<Value> sums_over_devices(const ledger::ProcessView& process) {
  static const std::size_t kRate = metric_number(kProcessDispatchesMetric).value();
  std::vector<ledger::WholeSum> sums(kRate - device_metric_count());
  for (const ledger::ProcessDeviceView& device : process.devices) {
    auto sum = sums.begin();
    for_each_kept(Subject::kProcess, device.figures,
                  [&sum](const FigureGroup&, const FigureRow&, const Figure& figure) {
                    (sum++)->add(figure);
                  });
    TTMEM_DCHECK(sum == sums.end());  // a metric for each figure that is kept
  }
  std::vector<Value> values;
  for (const ledger::WholeSum& sum : sums) values.push_back(to_value(sum.result()));
  return values;
}

void sample_process(const ledger::ProcessView& process, const KnownRun& known, Tracks& tracks) {
  static const std::size_t kRate = metric_number(kProcessDispatchesMetric).value();
  if (process.alive) tracks.keep({kRate, known.run.id});
  const std::vector<Value> sums = sums_over_devices(process);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const SeriesKey key{device_metric_count() + i, known.run.id};
    // The peaks of several devices need not have come at the same moment.
    const bool one = known.devices.size() == 1;
    const Value peak = one ? peak_in(known.devices.begin()->second.risen, key.metric) : Value();
    if (process.alive) {
      tracks.observe(key, sums[i], peak);
    } else if (const Track* track = tracks.find(key); track != nullptr && track->last) {
      tracks.observe(key, {}, peak);
    }
  }
}

bool launches_known(const ledger::ProcessView& process) {
  return std::ranges::all_of(process.devices, [](const ledger::ProcessDeviceView& device) {
    return device.figures.kernels.dispatches.has_value();
  });
}

}  // namespace

void Sampler::sample(const ledger::Snapshot& snapshot, const KnownDevices& devices,
                     const KnownRuns& runs, TimeNs now, Tracks& tracks) {
  const std::map<std::uint64_t, Peaks> risen = risen_by_device(runs);
  for (const ledger::DeviceView& view : snapshot.devices) {
    const auto number = devices.number_of(view.id);
    if (!number) continue;
    const auto peaks = risen.find(*number);
    sample_device(view, *number, peaks == risen.end() ? Peaks{} : peaks->second, tracks);
  }
  for (const ledger::ProcessView& process : snapshot.processes) {
    const KnownRun* known = runs.find(snapshot, process);
    if (known != nullptr) sample_process(process, *known, tracks);
  }
  take_launches(snapshot, devices, runs, now);
  settle_rates(now, tracks);
}

// What launches, and how much it launched since the last look: the devices, and the processes that
// live. A rate exists only while its counters are known.
void Sampler::take_launches(const ledger::Snapshot& snapshot, const KnownDevices& devices,
                            const KnownRuns& runs, TimeNs now) {
  static const std::size_t kOfDevice = metric_number(kDispatchesMetric).value();
  static const std::size_t kOfProcess = metric_number(kProcessDispatchesMetric).value();
  std::map<SeriesKey, Rate> before = std::exchange(rates_, {});
  const auto follow = [&](const SeriesKey& key) {
    const auto known = before.find(key);
    rates_.emplace(key, known == before.end() ? Rate{.since = now} : known->second);
  };
  for (const ledger::DeviceView& view : snapshot.devices) {
    const auto number = devices.number_of(view.id);
    if (number && view.figures.kernels.dispatches) follow({kOfDevice, *number});
  }
  for (const ledger::ProcessView& process : snapshot.processes) {
    const KnownRun* known = runs.find(snapshot, process);
    if (known != nullptr && process.alive && launches_known(process)) {
      follow({kOfProcess, known->run.id});
    }
  }
  const auto add = [this](const SeriesKey& key, std::int64_t launches) {
    if (const auto rate = rates_.find(key); rate != rates_.end()) rate->second.launches += launches;
  };
  for (const auto& [identity, known] : runs.all()) {
    if (!known.present) continue;
    for (const auto& [number, device] : known.devices) {
      add({kOfDevice, number}, device.launches);
      add({kOfProcess, known.run.id}, device.launches);
    }
  }
}

void Sampler::settle_rates(TimeNs now, Tracks& tracks) {
  for (auto& [key, rate] : rates_) {
    if (now < rate.since + kSecondNs) continue;
    const auto seconds = static_cast<double>(now - rate.since) / static_cast<double>(kSecondNs);
    const std::int64_t rounded = std::llround(static_cast<double>(rate.launches) / seconds);
    rate.last = rate.launches > 0 ? std::max<std::int64_t>(1, rounded) : 0;
    rate.launches = 0;
    rate.since = now;
    tracks.observe(key, rate.last, {});
  }
}

bool Sampler::rates_pending() const {
  return std::any_of(rates_.begin(), rates_.end(), [](const auto& each) {
    return each.second.last != 0 || each.second.launches != 0;
  });
}

}  // namespace ttmem::serve::history
