// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/timeline.hpp"

#include <gtest/gtest.h>

namespace ttmem::top {
namespace {

constexpr ledger::TimeNs kTimelineSecond = ledger::kLaunchIntervalNs;
constexpr ledger::TimeNs kTimelineNow =
    1'800'000'000 * kTimelineSecond;  // a multiple of five minutes

ledger::LaunchSeries series() {
  return {.since = kTimelineNow - 60 * kTimelineSecond,
          .until = kTimelineNow,
          .intervals = {{kTimelineNow - 31 * kTimelineSecond, 7, 0, 0},
                        {kTimelineNow - 30 * kTimelineSecond, 5, 2, ledger::kMarkReload},
                        {kTimelineNow - 29 * kTimelineSecond, 1, 0, 0}}};
}

TEST(Timeline, EveryLaunchIsInOneColumn) {
  for (const int columns : {7, 60, 100, 300, 400}) {
    const TimeScale scale(kTimelineNow, columns);
    std::uint64_t sum = 0;
    for (const TimeCell& cell : scale.cells(series())) sum += cell.launches;
    EXPECT_EQ(sum, 13u) << columns;
  }
}

TEST(Timeline, AColumnIsTheSameTimeWhileTimeGoesOn) {
  const auto place = [](ledger::TimeNs now) {
    const auto cells = TimeScale(now, 60).cells(series());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].marks != 0) return std::pair(i, cells[i].launches);
    }
    return std::pair<std::size_t, std::uint64_t>(0, 0);
  };
  EXPECT_EQ(TimeScale(kTimelineNow, 60).seconds(), 5u);
  const auto before = place(kTimelineNow);
  EXPECT_EQ(before.second, 6u) << "of the seconds 30 and 29 before now";
  EXPECT_EQ(place(kTimelineNow + 4 * kTimelineSecond), before);
  EXPECT_EQ(place(kTimelineNow + 5 * kTimelineSecond).first, before.first - 1);
  EXPECT_EQ(place(kTimelineNow + 5 * kTimelineSecond).second, 6u);
}

TEST(Timeline, WhatNobodyWatchedIsBlank) {
  const auto cells = TimeScale(kTimelineNow, 300).cells(series());
  EXPECT_FALSE(cells[200].watched);
  EXPECT_TRUE(cells[290].watched);
  EXPECT_TRUE(cells[299].watched);
  view::Grid grid(300, 1);
  draw_timeline(grid, 0, 0, cells, 7, true);
  EXPECT_EQ(grid.at(200, 0).character, U' ');
  EXPECT_EQ(grid.at(290, 0).character, U'·');
}

TEST(Timeline, TheMoreLaunchesTheBrighter) {
  const auto cells = TimeScale(kTimelineNow, 300).cells(series());
  view::Grid grid(300, 1);
  draw_timeline(grid, 0, 0, cells, 7, true);
  EXPECT_EQ(grid.at(268, 0).look.ink, view::heat(1.0));
  EXPECT_EQ(grid.at(269, 0).character, U'r');
  EXPECT_NE(grid.at(269, 0).look.back, view::Ink::kDefault);
  EXPECT_LT(grid.at(270, 0).look.ink, grid.at(268, 0).look.ink);
  draw_timeline(grid, 0, 0, cells, 7, false);
  EXPECT_EQ(grid.at(268, 0).character, U'█');
  EXPECT_EQ(grid.at(270, 0).character, U'▒');
}

TEST(Timeline, WhatEndedStaysWhileItsLaunchesAreShown) {
  const auto program = [](std::uint64_t id) {
    ledger::ProgramView view;
    view.id = view.workload = id;
    view.launches = series();
    return view;
  };
  EndedPrograms ended;
  EXPECT_TRUE(ended.after({program(1), program(2)}, kTimelineNow).empty());
  const ledger::TimeNs later = kTimelineNow + 10 * kTimelineSecond;
  const auto gone = ended.after({program(2)}, later);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].id, 1u);
  const auto cells = TimeScale(later, 300).cells(*gone[0].launches);
  EXPECT_EQ(cells[258].launches, 7u);
  EXPECT_TRUE(cells[289].watched);
  EXPECT_FALSE(cells[295].watched) << "after its end";
  EXPECT_TRUE(ended.after({program(1), program(2)}, later).empty()) << "it came again";
  EXPECT_EQ(ended.after({}, kTimelineNow + 270 * kTimelineSecond).size(), 2u);
  EXPECT_TRUE(ended.after({}, kTimelineNow + 272 * kTimelineSecond).empty());
}

}  // namespace
}  // namespace ttmem::top
