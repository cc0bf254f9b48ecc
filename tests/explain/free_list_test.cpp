// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/free_list.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace ttmem::explain {
namespace {

using ledger::AddressRange;
using ledger::Space;
using Ranges = std::vector<AddressRange>;

TEST(FreeList, L1IsPlacedAtTheEndOfTheHighestHoleThatFits) {
  FreeList list(Space::kL1, {100, 1000}, {{300, 400}, {900, 950}});
  EXPECT_EQ(list.holes(), (Ranges{{100, 300}, {400, 900}, {950, 1000}}));
  EXPECT_EQ(list.free_bytes(), 750u);
  EXPECT_EQ(list.largest(), 500u);
  EXPECT_EQ(list.place(50), (AddressRange{950, 1000}));
  EXPECT_EQ(list.place(60), (AddressRange{840, 900}));
  EXPECT_FALSE(list.find(441));
}

TEST(FreeList, DramIsPlacedAtTheStartOfTheLowestHoleThatFits) {
  FreeList list(Space::kDram, {0, 1000}, {{100, 200}});
  EXPECT_EQ(list.place(101), (AddressRange{200, 301}));
  EXPECT_EQ(list.place(100), (AddressRange{0, 100}));
}

TEST(FreeList, WhatIsGivenBackJoinsItsNeighbours) {
  FreeList list(Space::kDram, {0, 100}, {{10, 20}, {20, 30}, {50, 60}});
  EXPECT_EQ(list.hole_without({20, 30}), 30u);
  EXPECT_EQ(list.hole_without({50, 60}), 70u);
  list.release({20, 30});
  list.release({10, 20});
  EXPECT_EQ(list.holes(), (Ranges{{0, 50}, {60, 100}}));
  list.release({50, 60});
  EXPECT_EQ(list.holes(), (Ranges{{0, 100}}));
}

// Against the plainest allocator there is: one flag a byte.
TEST(FreeList, AgreesWithAMapOfBytes) {
  std::mt19937 random(7);
  for (const Space space : {Space::kL1, Space::kDram}) {
    std::vector<bool> taken(400);
    FreeList list(space, {0, 400}, {});
    std::vector<AddressRange> held;
    for (int step = 0; step < 4000; ++step) {
      if (!held.empty() && random() % 2 == 0) {
        const std::size_t i = random() % held.size();
        list.release(held[i]);
        for (std::uint64_t at = held[i].begin; at < held[i].end; ++at) taken[at] = false;
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      const std::uint64_t bytes = 1 + random() % 40;
      std::optional<AddressRange> expected;
      for (std::uint64_t i = 0; i + bytes <= 400 && !expected; ++i) {
        const std::uint64_t at = space == Space::kL1 ? 400 - bytes - i : i;
        const auto first = taken.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last = first + static_cast<std::ptrdiff_t>(bytes);
        if (std::find(first, last, true) == last) expected = AddressRange{at, at + bytes};
      }
      ASSERT_EQ(list.place(bytes), expected) << "step " << step;
      if (!expected) continue;
      held.push_back(*expected);
      for (std::uint64_t at = expected->begin; at < expected->end; ++at) taken[at] = true;
    }
  }
}

}  // namespace
}  // namespace ttmem::explain
