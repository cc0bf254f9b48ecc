// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/history.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "top/list_rows.hpp"
#include "view/status_sections.hpp"

namespace ttmem::top {
namespace {

constexpr std::uint64_t kRateNs = 1'000'000'000;

using ledger::DeviceFigures;
using ledger::Figure;

// The figures that have a track.
Figure dram_of(const DeviceFigures& on) { return view::held(on.space(ledger::Space::kDram)); }
Figure dispatches_of(const DeviceFigures& on) { return on.kernels.dispatches; }

struct Sums {
  Figure dram, l1, dispatches;
};

// A figure that is not known draws nothing: the last value that was known holds on.
void add(Track& track, ledger::TimeNs time, const Sums& sums) {
  if (sums.dram) track.dram.add(time, *sums.dram);
  if (sums.l1) track.l1.add(time, *sums.l1);
  if (sums.dispatches) track.dispatches.add(time, *sums.dispatches);
  track.seen = time;
}

template <typename Map>
void drop_unseen(Map& tracks, ledger::TimeNs time) {
  std::erase_if(tracks, [time](const auto& entry) { return entry.second.seen != time; });
}

}  // namespace

void add_moments(const ledger::Snapshot& snapshot, std::vector<PastMoment>& moments) {
  for (const ledger::DeviceView& device : snapshot.devices) {
    moments.push_back({device.unique_id,
                       {},
                       snapshot.time,
                       dram_of(device.figures).value_or(0),
                       l1_held(device.figures).value_or(0)});
  }
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (!process.alive) continue;
    moments.push_back({0, process_id(process), snapshot.time,
                       over_devices(process, dram_of).value_or(0),
                       over_devices(process, l1_held).value_or(0)});
  }
}

void Series::add(ledger::TimeNs time, std::uint64_t value) {
  const std::uint64_t bucket = time / kBucketNs;
  if (bucket < last_) return;
  if (last_ == 0 || bucket - last_ > kBuckets) {
    first_ = last_ = bucket;
    values_[bucket % kBuckets] = value;
    return;
  }
  if (bucket == last_) {
    values_[bucket % kBuckets] = std::max(values_[bucket % kBuckets], value);
    return;
  }
  const std::uint64_t held = values_[last_ % kBuckets];
  for (std::uint64_t b = last_ + 1; b < bucket; ++b) values_[b % kBuckets] = held;
  values_[bucket % kBuckets] = value;
  last_ = bucket;
  if (last_ >= kBuckets) first_ = std::max(first_, last_ - kBuckets + 1);
}

std::vector<std::optional<std::uint64_t>> Series::columns(std::size_t columns) const {
  std::vector<std::optional<std::uint64_t>> result(columns);
  if (last_ == 0) return result;
  for (std::uint64_t bucket = first_; bucket <= last_; ++bucket) {
    const std::size_t place = kBuckets - 1 - static_cast<std::size_t>(last_ - bucket);
    auto& column = result[place * columns / kBuckets];
    column = std::max(column.value_or(0), values_[bucket % kBuckets]);
  }
  // More columns than buckets: a bucket fills the columns that it covers.
  for (std::size_t i = 1; i < columns && columns > kBuckets; ++i) {
    if (!result[i]) result[i] = result[i - 1];
  }
  return result;
}

std::uint64_t Series::largest() const {
  std::uint64_t largest = 0;
  if (last_ == 0) return 0;
  for (std::uint64_t b = first_; b <= last_; ++b)
    largest = std::max(largest, values_[b % kBuckets]);
  return largest;
}

void Rate::add(ledger::TimeNs time, std::uint64_t count) {
  if (before_ == 0 || count < count_mark_) {
    *this = {};
    before_ = mark_ = time;
    count_before_ = count_mark_ = count;
    return;
  }
  if (time > before_) {
    per_second_ =
        static_cast<double>(count - count_before_) * 1e9 / static_cast<double>(time - before_);
  }
  if (time - mark_ >= kRateNs) {
    before_ = mark_;
    count_before_ = count_mark_;
    mark_ = time;
    count_mark_ = count;
  }
}

History History::at(const RecordingView& recording) {
  History history;
  if (!recording.charts) return history;
  const auto before = [](ledger::TimeNs time, const PastMoment& moment) {
    return time < moment.time;
  };
  const std::vector<PastMoment>& all = *recording.charts;
  const ledger::TimeNs begin = recording.at - std::min(recording.at, kWindowNs);
  const auto first = std::upper_bound(all.begin(), all.end(), begin, before);
  history.recall({first, std::upper_bound(first, all.end(), recording.at, before)});
  return history;
}

void History::recall(std::span<const PastMoment> past) {
  std::map<ledger::TimeNs, std::pair<std::uint64_t, std::uint64_t>> totals;
  for (const PastMoment& moment : past) {
    Track& track = moment.process ? processes_[*moment.process] : devices_[moment.unique_id];
    track.dram.add(moment.time, moment.dram);
    track.l1.add(moment.time, moment.l1);
    if (moment.process) continue;
    auto& [dram, l1] = totals[moment.time];
    dram += moment.dram;
    l1 += moment.l1;
  }
  for (const auto& [time, total] : totals) {
    total_.dram.add(time, total.first);
    total_.l1.add(time, total.second);
  }
}

void History::add(const ledger::Snapshot& snapshot, std::uint64_t state) {
  if (snapshot.time <= time_) return;
  const bool known = state != 0 && state == state_;
  if (known && snapshot.time / kBucketNs == time_ / kBucketNs) return;
  time_ = snapshot.time;
  state_ = state;
  Sums total;
  for (const ledger::DeviceView& device : snapshot.devices) {
    const Sums sums{dram_of(device.figures), l1_held(device.figures),
                    dispatches_of(device.figures)};
    ledger::add_to(total.dram, sums.dram);
    ledger::add_to(total.l1, sums.l1);
    ledger::add_to(total.dispatches, sums.dispatches);
    top::add(devices_[device.unique_id], time_, sums);
  }
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (!process.alive) continue;
    top::add(processes_[process_id(process)], time_,
             {over_devices(process, dram_of), over_devices(process, l1_held),
              over_devices(process, dispatches_of)});
  }
  top::add(total_, time_, total);
  drop_unseen(processes_, time_);
  drop_unseen(devices_, time_);
}

const Track* History::process(ProcessId process) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

const Track* History::device(std::uint64_t unique_id) const {
  const auto found = devices_.find(unique_id);
  return found == devices_.end() ? nullptr : &found->second;
}

}  // namespace ttmem::top
