// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "inject/core_ranges.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace ttmem::inject {
namespace {

using Core = std::pair<std::size_t, std::size_t>;

std::multiset<Core> cores_of(const std::vector<ttmem_core_range>& ranges) {
  std::multiset<Core> cores;
  for (const auto& range : ranges) {
    for (std::size_t y = range.y0; y <= range.y1; ++y) {
      for (std::size_t x = range.x0; x <= range.x1; ++x) cores.insert({x, y});
    }
  }
  return cores;
}

TEST(Cover, ARectangleIsOneRange) {
  std::vector<metal::CoreCoord> grid;
  for (std::size_t x = 0; x < 8; ++x) {
    for (std::size_t y = 0; y < 7; ++y) grid.push_back({x, y});
  }
  const auto ranges = cover(grid);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].x1, 7);
  EXPECT_EQ(ranges[0].y1, 6);
}

TEST(Cover, NoCoresAreNoRanges) { EXPECT_TRUE(cover({}).empty()); }

TEST(Cover, EveryCoreIsCoveredOnceAndNoOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::set<Core> chosen;
    for (int i = 0; i < 40; ++i) chosen.insert({random() % 8, random() % 8});
    std::vector<metal::CoreCoord> cores;
    for (const auto& [x, y] : chosen) cores.push_back({x, y});
    EXPECT_EQ(cores_of(cover(cores)), std::multiset<Core>(chosen.begin(), chosen.end()));
  }
}

}  // namespace
}  // namespace ttmem::inject
