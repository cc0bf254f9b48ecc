// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/bars.hpp"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "view/ansi.hpp"

namespace ttmem::view {
namespace {

std::string drawn(std::vector<BarPart> parts, std::uint64_t whole, bool colours) {
  Grid grid(10, 1);
  draw_bar(grid, 0, 0, 10, parts, whole, colours);
  std::string text = plain_text(grid);
  text.pop_back();
  return text;
}

TEST(Bars, AreExactToAnEighthOfACell) {
  EXPECT_EQ(drawn({{Ink::kDram, 50}}, 100, true), "█████");
  EXPECT_EQ(drawn({{Ink::kDram, 55}}, 100, true), "█████▌");
  EXPECT_EQ(drawn({{Ink::kDram, 100}}, 100, true), "██████████");
}

TEST(Bars, TheSmallestPartIsSeenAndZeroIsNot) {
  EXPECT_EQ(drawn({{Ink::kDram, 1}}, 1'000'000, true), "▏");
  EXPECT_EQ(drawn({{Ink::kDram, 0}}, 100, true), "");
}

TEST(Bars, MoreThanTheWholeFillsTheBar) {
  EXPECT_EQ(drawn({{Ink::kDram, 300}}, 100, true), "██████████");
}

TEST(Bars, WithoutColoursPartsDifferByTexture) {
  EXPECT_EQ(drawn({{Ink::kBuffers, 30, U'█'}, {Ink::kProgramL1, 20, U'▓'}}, 100, false),
            "███▓▓·····");
}

TEST(Bars, PartsMeetInsideOfACell) {
  Grid grid(1, 1);
  const std::vector<BarPart> parts = {{Ink::kBuffers, 1}, {Ink::kRing, 1}};
  draw_bar(grid, 0, 0, 1, parts, 2, true);
  EXPECT_EQ(grid.at(0, 0).character, U'▌');
  EXPECT_EQ(grid.at(0, 0).look, (Look{Ink::kBuffers, Ink::kRing}));
}

TEST(Bars, SharesAddUpAndKeepEveryPart) {
  std::mt19937_64 random(35);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> amounts(1 + random() % 6);
    for (std::uint64_t& amount : amounts) amount = random() % 4 == 0 ? 0 : random() % 1'000'000;
    const std::uint64_t sum = std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
    const int units = 8 + static_cast<int>(random() % 400);
    const std::vector<int> result = shares(amounts, sum, units);
    if (sum > 0) {
      EXPECT_EQ(std::accumulate(result.begin(), result.end(), 0), units);
    }
    for (std::size_t i = 0; i < amounts.size(); ++i) EXPECT_EQ(result[i] > 0, amounts[i] > 0);
  }
}

TEST(Bars, SparklinesLeaveTheUnknownBlank) {
  Grid grid(5, 1);
  const std::vector<std::optional<std::uint64_t>> samples = {{}, 0, 50, 100, 400};
  draw_sparkline(grid, 0, 0, samples, 100, {});
  EXPECT_EQ(plain_text(grid), " ▁▄██\n");
}

TEST(Bars, ChartsHaveTwoSamplesAColumn) {
  Grid grid(2, 2);
  const std::vector<std::optional<std::uint64_t>> samples = {100, 50, {}, 0};
  draw_chart(grid, grid.area(), samples, 100, {});
  EXPECT_EQ(plain_text(grid), "⡇\n⣿⢀\n");
}

TEST(Bars, ManySmallPartsOfAnInkCountTogether) {
  const BarPart buffer{Ink::kBuffers, 3, U'█'}, gap{Ink::kTrack, 1, U'·'},
      room{Ink::kTrack, 5, U'·'};
  const std::vector<BarPart> parts = {buffer, gap, buffer, gap, buffer, room,
                                      buffer, gap, buffer, gap, buffer, room};
  Grid grid(2, 1);
  draw_strip(grid, 0, 0, 2, parts, 32, false);  // in each cell 9 of buffers and 7 of room
  EXPECT_EQ(plain_text(grid), "██\n");
}

TEST(Bars, ACellOfAMapIsRightAboutMostOfIt) {
  const BarPart buffer{Ink::kBuffers, 1}, gap{Ink::kTrack, 1};
  const std::vector<BarPart> parts = {buffer, gap, buffer, buffer, gap, buffer, buffer, buffer};
  Grid grid(1, 1);
  draw_strip(grid, 0, 0, 1, parts, 8, true);
  EXPECT_EQ(grid.at(0, 0), (Cell{U'█', 0, {Ink::kBuffers}}));
}

TEST(Bars, TowersGrowFromTheBottom) {
  Grid grid(1, 4);
  const std::vector<BarPart> parts = {{Ink::kFixed, 1, U'a'}, {Ink::kRing, 2, U'b'}};
  draw_tower(grid, grid.area(), parts, 4, false);
  EXPECT_EQ(plain_text(grid), "·\nb\nb\na\n");
}

}  // namespace
}  // namespace ttmem::view
