// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <cmath>
#include <limits>

#include "serve/history/known_subjects.hpp"
#include "serve/history/metric_table.hpp"

namespace ttmem::serve::history {
namespace {

using Peaks = std::array<Value, ledger::kSpaces>;

Value peak_of(const Peaks& peaks, const std::optional<ledger::Space>& space) {
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
  for (std::size_t metric = 0; metric < device_metric_count(); ++metric) {
    const DeviceMetric& each = device_metric(metric);
    if (each.value != nullptr) {
      tracks.observe({metric, number}, each.value(view.figures), peak_of(risen, each.peak_of));
    } else if (each.name == kProcessesMetric) {
      tracks.observe({metric, number}, view.processes, {});
    } else {
      tracks.keep({metric, number});
    }
  }
}

Value sum_over_devices(const ledger::ProcessView& process, const ProcessMetric& metric) {
  Value sum;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    const Value value = metric.value(device.figures);
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    if (value) sum = *value > kLargest - sum.value_or(0) ? kLargest : sum.value_or(0) + *value;
  }
  return sum;
}

void sample_process(const ledger::ProcessView& process, const KnownRun& known, Tracks& tracks) {
  for (std::size_t each = 0; each < process_metric_count(); ++each) {
    const ProcessMetric& metric = process_metric(each);
    const SeriesKey key{device_metric_count() + each, known.run.id};
    // The peaks of several devices need not have come at the same moment.
    const bool one = known.devices.size() == 1;
    const Value peak = one ? peak_of(known.devices.begin()->second.risen, metric.peak_of) : Value();
    if (process.alive) {
      tracks.observe(key, sum_over_devices(process, metric), peak);
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
