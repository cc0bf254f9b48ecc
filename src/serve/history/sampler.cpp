// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "serve/history/known_subjects.hpp"
#include "serve/history/metric_table.hpp"

namespace ttmem::serve::history {
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
  std::vector<Value> values = values_of(Subject::kDevice, view.figures);
  values.at(kProcesses) = view.processes;
  for (std::size_t metric = 0; metric < values.size(); ++metric) {
    if (metric == kDispatches) {
      tracks.keep({metric, number});  // settle_rates() observes it
    } else {
      tracks.observe({metric, number}, values[metric], peak_in(risen, metric));
    }
  }
}

// The metrics of a process: sums over its devices.
std::vector<Value> sums_over_devices(const ledger::ProcessView& process) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  std::vector<Value> sums(metrics().size() - device_metric_count());
  for (const ledger::ProcessDeviceView& device : process.devices) {
    const std::vector<Value> values = values_of(Subject::kProcess, device.figures);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!values[i]) continue;
      const std::int64_t sum = sums[i].value_or(0);
      sums[i] = *values[i] > kLargest - sum ? kLargest : sum + *values[i];
    }
  }
  return sums;
}

void sample_process(const ledger::ProcessView& process, const KnownRun& known, Tracks& tracks) {
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

void Sampler::take_launches(const ledger::Snapshot& snapshot, const KnownDevices& devices,
                            const KnownRuns& runs, TimeNs now) {
  for (auto& [number, rate] : rates_) rate.known = false;
  for (const ledger::DeviceView& view : snapshot.devices) {
    const auto number = devices.number_of(view.id);
    if (!number) continue;
    const auto [rate, is_new] = rates_.try_emplace(*number);
    rate->second.known = view.figures.kernels.dispatches.has_value();
    if (is_new) rate->second.since = now;
  }
  for (const auto& [identity, known] : runs.all()) {
    if (!known.present) continue;
    for (const auto& [number, device] : known.devices) {
      const auto rate = rates_.find(number);
      if (rate != rates_.end()) rate->second.launches += device.launches;
    }
  }
}

void Sampler::settle_rates(TimeNs now, Tracks& tracks) {
  static const std::size_t kMetric = metric_number(kDispatchesMetric).value();
  for (auto& [number, rate] : rates_) {
    if (!rate.known || now < rate.since + kSecondNs) continue;
    const auto seconds = static_cast<double>(now - rate.since) / static_cast<double>(kSecondNs);
    const std::int64_t rounded = std::llround(static_cast<double>(rate.launches) / seconds);
    rate.last = rate.launches > 0 ? std::max<std::int64_t>(1, rounded) : 0;
    rate.launches = 0;
    rate.since = now;
    tracks.observe({kMetric, number}, rate.last, {});
  }
}

bool Sampler::rates_pending() const {
  return std::any_of(rates_.begin(), rates_.end(), [](const auto& each) {
    return each.second.last != 0 || each.second.launches != 0;
  });
}

}  // namespace ttmem::serve::history
