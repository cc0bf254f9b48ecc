// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/timeline.hpp"

#include <gtest/gtest.h>

namespace ttmem::top {
namespace {

constexpr ledger::TimeNs kSecond = ledger::kLaunchIntervalNs;
constexpr ledger::TimeNs kNow = 1'800'000'000 * kSecond;  // a multiple of five minutes

ledger::LaunchSeries series() {
  return {.since = kNow - 60 * kSecond,
          .until = kNow,
          .intervals = {{kNow - 31 * kSecond, 7, 0, 0},
                        {kNow - 30 * kSecond, 5, 2, ledger::kMarkReload},
                        {kNow - 29 * kSecond, 1, 0, 0}}};
}

TEST(Timeline, EveryLaunchIsInOneColumn) {
  for (const int columns : {1, 7, 60, 100, 300, 400}) {
    const TimeScale scale(kNow, columns);
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
  EXPECT_EQ(TimeScale(kNow, 60).seconds(), 5u);
  const auto before = place(kNow);
  EXPECT_EQ(before.second, 6u) << "of the seconds 30 and 29 before now";
  EXPECT_EQ(place(kNow + 4 * kSecond), before);
  EXPECT_EQ(place(kNow + 5 * kSecond).first, before.first - 1);
  EXPECT_EQ(place(kNow + 5 * kSecond).second, 6u);
}

TEST(Timeline, WhatNobodyWatchedIsBlank) {
  const auto cells = TimeScale(kNow, 300).cells(series());
  EXPECT_FALSE(cells[200].watched);
  EXPECT_TRUE(cells[290].watched);
  EXPECT_TRUE(cells[299].watched);
  view::Grid grid(300, 1);
  draw_timeline(grid, 0, 0, cells, 7, true);
  EXPECT_EQ(grid.at(200, 0).character, U' ');
  EXPECT_EQ(grid.at(290, 0).character, U'·');
}

TEST(Timeline, TheMoreLaunchesTheBrighter) {
  const auto cells = TimeScale(kNow, 300).cells(series());
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

}  // namespace
}  // namespace ttmem::top
