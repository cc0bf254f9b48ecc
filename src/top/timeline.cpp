// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace ttmem::top {
namespace {

constexpr std::uint64_t kWatchedSeconds = ledger::kLaunchIntervals;

// What is worse hides what is not.
struct Sign {
  std::uint8_t mark;
  char32_t character;
  std::string_view shown, meaning;
  view::Ink ink;
};
constexpr std::array<Sign, 4> kSigns = {
    {{ledger::kMarkFailure, U'!', "!", "failure", view::Ink::kBad},
     {ledger::kMarkReload, U'r', "r", "reload", view::Ink::kWarn},
     {ledger::kMarkEviction, U'x', "x", "eviction", view::Ink::kWarn},
     {ledger::kMarkFirstLoad, U'+', "+", "first load", view::Ink::kGood}}};

// Ten launches and ten thousand are both to be seen.
double brightness(std::uint64_t launches, std::uint64_t brightest) {
  if (launches == 0 || brightest == 0) return 0;
  return std::log1p(static_cast<double>(launches)) / std::log1p(static_cast<double>(brightest));
}

char32_t shade(double part) {
  constexpr std::array<char32_t, 4> kShades = {U'░', U'▒', U'▓', U'█'};
  const auto index = static_cast<std::size_t>(part * kShades.size());
  return kShades[std::min(index, kShades.size() - 1)];
}

}  // namespace

EndedPrograms::Key EndedPrograms::key(const ledger::ProgramView& program) {
  const ledger::ProcessName& process = *program.process;
  return {process.segment, process.pid, program.id, program.workload};
}

std::vector<ledger::ProgramView> EndedPrograms::after(
    const std::vector<ledger::ProgramView>& living, ledger::TimeNs now) {
  std::set<Key> live;
  for (const ledger::ProgramView& program : living) {
    const Key name = key(program);
    live.insert(name);
    if (!program.launches || program.launches->intervals.empty()) continue;
    if (seen_.size() < kMost || seen_.contains(name)) seen_.insert_or_assign(name, program);
  }
  const ledger::TimeNs kept = kWatchedSeconds * ledger::kLaunchIntervalNs;
  std::erase_if(seen_, [&](const auto& each) {
    return each.second.launches->intervals.back().time + kept < now;
  });
  std::vector<ledger::ProgramView> ended;
  for (const auto& [name, program] : seen_) {
    if (live.contains(name)) continue;
    ended.push_back(program);
    ended.back().recent_per_second = 0;
  }
  std::ranges::stable_sort(ended, std::ranges::greater{}, [](const ledger::ProgramView& program) {
    return program.launches->until;
  });
  return ended;
}

TimeScale::TimeScale(ledger::TimeNs now, int columns)
    : columns_(std::max(1, columns)),
      seconds_((kWatchedSeconds + static_cast<std::uint64_t>(columns_) - 1) /
               static_cast<std::uint64_t>(columns_)),
      begin_(0) {
  const ledger::TimeNs step = seconds_ * ledger::kLaunchIntervalNs;
  const ledger::TimeNs end = (now / step + 1) * step;
  const ledger::TimeNs length = static_cast<std::uint64_t>(columns_) * step;
  begin_ = end > length ? end - length : 0;
}

int TimeScale::column_of(ledger::TimeNs time) const {
  if (time < begin_) return -1;
  const std::uint64_t column = (time - begin_) / (seconds_ * ledger::kLaunchIntervalNs);
  return static_cast<int>(
      std::min<std::uint64_t>(column, static_cast<std::uint64_t>(columns_) - 1));
}

std::vector<TimeCell> TimeScale::cells(const ledger::LaunchSeries& series) const {
  std::vector<TimeCell> cells(static_cast<std::size_t>(columns_));
  const ledger::TimeNs kept = kWatchedSeconds * ledger::kLaunchIntervalNs;
  const ledger::TimeNs since =
      std::max(series.since, series.until > kept ? series.until - kept : 0);
  const ledger::TimeNs step = seconds_ * ledger::kLaunchIntervalNs;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const ledger::TimeNs begin = begin_ + i * step;
    cells[i].watched = series.since != 0 && begin + step > since && begin <= series.until;
  }
  for (const ledger::LaunchInterval& interval : series.intervals) {
    const int column = column_of(interval.time);
    if (column < 0) continue;
    TimeCell& cell = cells[static_cast<std::size_t>(column)];
    cell.launches += interval.launches;
    cell.marks |= interval.marks;
  }
  return cells;
}

void draw_timeline(view::Grid& grid, int x, int y, const std::vector<TimeCell>& cells,
                   std::uint64_t brightest, bool colours) {
  for (const TimeCell& cell : cells) {
    const int at = x++;
    const double part = brightness(cell.launches, brightest);
    const view::Ink behind = part > 0 && colours ? view::heat(part) : view::Ink::kDefault;
    const auto sign = std::ranges::find_if(
        kSigns, [&](const Sign& each) { return (cell.marks & each.mark) != 0; });
    if (sign != kSigns.end()) {
      const view::Ink ink = behind == view::Ink::kDefault ? sign->ink : view::Ink::kOnColour;
      grid.put(at, y, sign->character, view::Look{ink, behind}.bold());
    } else if (part > 0) {
      grid.put(at, y, colours ? U'█' : shade(part), {colours ? behind : view::Ink::kText});
    } else if (cell.watched) {
      grid.put(at, y, U'·', looks::kFaint);
    }
  }
}

std::string timeline_legend() {
  std::string text;
  for (auto sign = kSigns.rbegin(); sign != kSigns.rend(); ++sign) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "   ", sign->shown, sign->meaning);
  }
  return text;
}

}  // namespace ttmem::top
