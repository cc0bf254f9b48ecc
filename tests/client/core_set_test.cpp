// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "client/interning.hpp"

namespace ttmem::client {
namespace {

using Cores = std::set<std::pair<unsigned, unsigned>>;

std::vector<ttmem_core_range> canonical(const std::vector<ttmem_core_range>& ranges) {
  const auto builder = std::make_unique<CoreSetBuilder>();
  builder->clear();
  for (const auto& range : ranges) builder->add(range);
  std::vector<ttmem_core_range> out(4096);
  out.resize(builder->rectangles(out.data(), 4096));
  return out;
}

Cores cores_of(const std::vector<ttmem_core_range>& ranges, std::size_t* area = nullptr) {
  Cores cores;
  for (const auto& range : ranges) {
    for (unsigned y = range.y0; y <= range.y1; ++y) {
      for (unsigned x = range.x0; x <= range.x1; ++x) {
        cores.insert({x, y});
        if (area != nullptr) ++*area;
      }
    }
  }
  return cores;
}

TEST(CoreSet, OverlappingRangesCountEachCoreOnce) {
  const auto merged = canonical({{0, 0, 3, 3}, {2, 2, 5, 5}});
  std::size_t area = 0;
  EXPECT_EQ(cores_of(merged, &area).size(), 28u);
  EXPECT_EQ(area, 28u);
}

TEST(CoreSet, EqualSetsAreEqualBytes) {
  const auto rows = canonical({{0, 0, 7, 0}, {0, 1, 7, 1}});
  const auto columns = canonical({{4, 0, 7, 1}, {0, 0, 3, 1}});
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_EQ(rows[0].x1, columns[0].x1);
  EXPECT_EQ(rows[0].y1, 1);
}

TEST(CoreSet, RandomRangesKeepTheirCoresAndNeverOverlap) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<ttmem_core_range> ranges;
    for (unsigned i = 0; i < 1 + random() % 8; ++i) {
      const auto x = static_cast<std::uint8_t>(random() % 14);
      const auto y = static_cast<std::uint8_t>(random() % 12);
      ranges.push_back({x, y, static_cast<std::uint8_t>(x + random() % 5),
                        static_cast<std::uint8_t>(y + random() % 5)});
    }
    std::size_t area = 0;
    const Cores cores = cores_of(canonical(ranges), &area);
    ASSERT_EQ(cores, cores_of(ranges));
    ASSERT_EQ(area, cores.size());
  }
}

TEST(CoreSet, TheWholeCoordinateSpaceIsOneRectangle) {
  const auto all = canonical({{0, 0, 255, 255}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].x1, 255);
  EXPECT_EQ(all[0].y1, 255);
}

}  // namespace
}  // namespace ttmem::client
