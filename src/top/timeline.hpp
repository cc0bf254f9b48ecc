// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which program ran when: a row of cells per program, each a stretch of time. The brighter, the
// more launches; a sign where something else happened. Blank is a time that nobody watched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"

namespace ttmem::top {

// Programs that ended while somebody looked. They stay in the timeline as long as it would show a
// launch or a sign of theirs.
class EndedPrograms {
 public:
  // `living`: with their launches. The ended, the latest first.
  std::vector<ledger::ProgramView> after(const std::vector<ledger::ProgramView>& living,
                                         ledger::TimeNs now);

 private:
  static constexpr std::size_t kMost = 4096;
  using Key = std::tuple<std::string, std::int32_t, std::uint64_t, std::uint64_t>;
  static Key key(const ledger::ProgramView& program);

  std::map<Key, ledger::ProgramView> seen_;
};

struct TimeCell {
  bool watched = false;
  std::uint64_t launches = 0;
  std::uint8_t marks = 0;  // ledger::kMark...
};

// The last minutes in so many equal columns; the last one is now. They begin at whole multiples of
// their length, so that a launch stays in its column while time goes on.
struct TimeScale {
  TimeScale(ledger::TimeNs now, int columns);

  std::vector<TimeCell> cells(const ledger::LaunchSeries& series) const;
  int column_of(ledger::TimeNs time) const;  // -1: before the first
  std::uint64_t seconds() const { return seconds_; }

 private:
  int columns_;
  std::uint64_t seconds_;  // of one column
  ledger::TimeNs begin_;
};

// `brightest`: the launches of a cell that is as bright as can be.
void draw_timeline(view::Grid& grid, int x, int y, const std::vector<TimeCell>& cells,
                   std::uint64_t brightest, bool colours);

// "+ first load   r reload   x eviction   ! failure"
std::string timeline_legend();

}  // namespace ttmem::top
