// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/snapshot.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

namespace ttmem::ledger {

void ProcessView::hide_words() {
  hidden = true;
  command.clear();
  for (FailureView& failure : failures) {
    failure.message.clear();
    failure.line.clear();
    failure.region.clear();
    failure.stack.reset();
    failure.told_to = user;
  }
}

const Owner& nobody() {
  static const Owner kNobody = std::make_shared<const ProcessName>();
  return kNobody;
}

std::optional<ProcessSelector> ProcessSelector::parse(std::string_view text) {
  ProcessSelector selector;
  const auto take = [&text](auto& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return text.empty() || text.front() == '/';
  };
  if (!take(selector.pid) || selector.pid < 0) return std::nullopt;
  if (text.empty()) return selector;
  text.remove_prefix(1);
  if (!take(selector.start.emplace())) return std::nullopt;
  if (!text.empty()) selector.segment_end = text.substr(1);
  return selector;
}

bool ProcessSelector::matches(const ProcessName& process) const {
  return process.pid == pid && (!start || process.start == *start) &&
         process.segment.ends_with(segment_end);
}

std::string ProcessSelector::text() const {
  std::string text = std::to_string(pid);
  if (start) text += "/" + std::to_string(*start);
  return segment_end.empty() ? text : text + "/" + segment_end;
}

std::optional<DeviceSelector> DeviceSelector::parse(std::string_view text) {
  const auto take = [&text](auto& number, int base) {
    const char* const first = text.data();
    const char* const last = first + text.size();
    const auto [end, error] = std::from_chars(first, last, number, base);
    return error == std::errc() && end == last;
  };
  DeviceSelector selector;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    if (!take(selector.unique_id.emplace(), 16)) return std::nullopt;
  } else if (!take(selector.id.emplace(), 10)) {
    return std::nullopt;
  }
  return selector;
}

const ProcessView* Snapshot::process(std::uint64_t key) const {
  const auto found = std::ranges::find(processes, key, &ProcessView::key);
  return found == processes.end() ? nullptr : &*found;
}

void distinguish(std::vector<ProcessView>& processes) {
  struct Count {
    std::size_t alive = 0, all = 0;
    bool confuses(const ProcessView& process) const { return (process.alive ? alive : all) > 1; }
  };
  std::unordered_map<std::int32_t, Count> by_pid;
  std::map<std::pair<std::int32_t, std::uint64_t>, Count> by_start;  // of those with one pid
  for (const ProcessView& process : processes) {
    Count& count = by_pid[process.pid];
    count.alive += process.alive;
    ++count.all;
  }
  for (const ProcessView& process : processes) {
    if (by_pid[process.pid].all == 1) continue;
    Count& count = by_start[{process.pid, process.start}];
    count.alive += process.alive;
    ++count.all;
  }
  for (ProcessView& process : processes) {
    process.distinction.clear();
    if (!by_pid[process.pid].confuses(process)) continue;
    process.distinction = "/" + std::to_string(process.start);
    // Two containers may start theirs in the same tick; the end of a segment's name is random.
    if (by_start[{process.pid, process.start}].confuses(process)) {
      process.distinction += "/" + process.segment.substr(process.segment.rfind('-') + 1);
    }
  }
}

void LaunchSeries::mark(TimeNs time, std::uint8_t what) {
  if (time > until || time + kLaunchIntervals * kLaunchIntervalNs < until) return;
  const TimeNs begin = time / kLaunchIntervalNs * kLaunchIntervalNs;
  auto place = std::ranges::lower_bound(intervals, begin, {}, &LaunchInterval::time);
  if (place == intervals.end() || place->time != begin) {
    place = intervals.insert(place, {.time = begin});
  }
  place->marks |= what;
}

std::optional<double> LaunchSeries::recent_rate() const {
  constexpr TimeNs kShortest = 50'000'000;
  if (until < since + kShortest) return std::nullopt;
  // Whole intervals: launches have no other place in time.
  const TimeNs wanted = until > kRecentNs ? until - kRecentNs : 0;
  const TimeNs begin = std::max(since, (wanted / kLaunchIntervalNs + 1) * kLaunchIntervalNs);
  double sum = 0;
  for (const LaunchInterval& interval : intervals) {
    if (interval.time + kLaunchIntervalNs > begin) sum += static_cast<double>(interval.launches);
  }
  return sum * 1e9 / static_cast<double>(until - begin);
}

}  // namespace ttmem::ledger
