// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/launch_watch.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

// Seconds are counted in 32 bits; no clock is later than the year 2106.
constexpr TimeNs kLatest = TimeNs{std::numeric_limits<std::uint32_t>::max()} * kLaunchIntervalNs;
constexpr std::size_t kMostWatched = 4096;  // workloads of one process, and as many traces

std::uint32_t second_at(TimeNs time) {
  return static_cast<std::uint32_t>(
      std::min<TimeNs>(time / kLaunchIntervalNs, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t first_second(TimeNs now) {
  const std::uint32_t last = second_at(now);
  return last >= kLaunchIntervals ? last - static_cast<std::uint32_t>(kLaunchIntervals) + 1 : 0;
}

void add_up(std::uint32_t& sum, std::uint64_t more) {
  sum = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum + more, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

LaunchWatch::Watched* LaunchWatch::find(Series& all, std::uint64_t id) {
  const auto known = all.find(id);
  if (known != all.end()) return &known->second;
  return all.size() < kMostWatched ? &all[id] : nullptr;
}

// The clock of the host may be set back: nothing is ever put before what is there.
LaunchWatch::Second& LaunchWatch::second_of(Watched& watched, TimeNs time) {
  const std::uint32_t number = second_at(time);
  auto place = std::ranges::lower_bound(watched.seconds, number, {}, &Second::number);
  if (place == watched.seconds.end() || place->number != number) {
    place = watched.seconds.insert(place, {number, 0, 0});
  }
  return *place;
}

// Each second gets what is due until its end less what the seconds before it got.
void LaunchWatch::spread(Watched& watched, std::uint64_t launches, TimeNs from, TimeNs to) {
  const TimeNs length = to > from ? to - from : 1;
  std::uint64_t given = 0;
  // What lies before the window is not kept; the first second of it starts with that given.
  const TimeNs begin = std::max(from, TimeNs{first_second(to)} * kLaunchIntervalNs);
  if (begin > from) {
    given = narrow(Wide{launches} * (begin - from) / length);
  }
  for (TimeNs at = begin; given < launches;) {
    const TimeNs end = (at / kLaunchIntervalNs + 1) * kLaunchIntervalNs;
    const std::uint64_t due = end >= to ? launches : narrow(Wide{launches} * (end - from) / length);
    if (due > given) add_up(second_of(watched, std::min(at, to)).launches, due - given);
    given = due;
    at = end;
  }
}

void LaunchWatch::forget_before(Watched& watched, std::uint32_t second) {
  const auto kept = std::ranges::lower_bound(watched.seconds, second, {}, &Second::number);
  watched.seconds.erase(watched.seconds.begin(), kept);
}

void LaunchWatch::take(const LaunchCount& count, Watched& watched, TimeNs now,
                       const ToTime& to_time) const {
  const bool is_new = watched.round == 0;
  const TimeNs first = count.first == 0 ? 0 : to_time(count.first);
  const TimeNs last = count.last == 0 ? 0 : to_time(count.last);
  const bool began = is_new || count.count < watched.count;  // a new one with the id of another
  const std::uint64_t before = began ? 0 : watched.count;
  const bool loaded = count.count > 0 && (began || watched.count == 0);
  if (loaded && second_at(first) >= first_second(now) && first <= now) {
    second_of(watched, first).marks |= kMarkFirstLoad;
  }
  // When those before the very first look came is not known.
  if (count.count > before && looked_ != 0) {
    const TimeNs to = last == 0 || last > now ? now : std::max(last, std::min(looked_, now));
    spread(watched, count.count - before, std::min(std::max(loaded ? first : 0, looked_), to), to);
  }
  const bool reloaded = !began && count.reloads > watched.reloads;
  if (reloaded) second_of(watched, last != 0 && last <= now ? last : now).marks |= kMarkReload;
  const bool left = !began && watched.in_ring && !count.in_ring;
  if (left || (reloaded && watched.in_ring)) second_of(watched, now).marks |= kMarkEviction;
  watched.count = count.count;
  watched.reloads = count.reloads;
  watched.in_ring = count.in_ring;
  watched.members = count.members;
  watched.round = round_;
  forget_before(watched, first_second(now));
}

void LaunchWatch::look(const ProcessLedger& ledger, TimeNs now, const ToTime& to_time) {
  now = std::min(now, kLatest);
  ++round_;
  ledger.for_each_launch_count([&](const LaunchCount& count) {
    Watched* watched = find(count.is_trace ? traces_ : workloads_, count.id);
    if (watched != nullptr) take(count, *watched, now, to_time);
  });
  // A workload goes with its programs; what a trace replayed stays as long as the window shows it.
  std::erase_if(workloads_, [&](const auto& each) { return each.second.round != round_; });
  const std::uint32_t first = first_second(now);
  for (auto& [id, trace] : traces_) {
    if (trace.round != round_) forget_before(trace, first);
  }
  std::erase_if(traces_, [&](const auto& each) {
    return each.second.round != round_ && each.second.seconds.empty();
  });
  pass(now);
}

void LaunchWatch::pass(TimeNs now) {
  now = std::min(now, kLatest);
  if (since_ == 0) since_ = now;
  looked_ = now;
}

void LaunchWatch::for_each_trace(const std::function<void(std::uint64_t, ListId)>& visit) const {
  for (const auto& [id, trace] : traces_) visit(id, trace.members);
}

std::optional<LaunchSeries> LaunchWatch::series(std::uint64_t workload,
                                                const std::vector<std::uint64_t>& traces) const {
  const auto found = workloads_.find(workload);
  if (found == workloads_.end() && traces.empty()) return std::nullopt;
  std::map<std::uint32_t, LaunchInterval> seconds;
  const auto add_all = [&](const Watched& watched, bool is_trace) {
    for (const Second& second : watched.seconds) {
      LaunchInterval& interval = seconds[second.number];
      interval.time = TimeNs{second.number} * kLaunchIntervalNs;
      interval.launches = add(interval.launches, second.launches);
      if (is_trace) interval.replays = add(interval.replays, second.launches);
      // The slice and the loading of a trace are not those of its members.
      if (!is_trace) interval.marks |= second.marks;
    }
  };
  if (found != workloads_.end()) add_all(found->second, false);
  for (const std::uint64_t id : traces) {
    const auto trace = traces_.find(id);
    if (trace != traces_.end()) add_all(trace->second, true);
  }
  LaunchSeries series;
  series.since = since_;
  series.until = looked_;
  for (const auto& [number, interval] : seconds) series.intervals.push_back(interval);
  return series;
}

}  // namespace ttmem::ledger
