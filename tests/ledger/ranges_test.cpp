// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Address ranges: free blocks between buffers, and the union of what programs reserve.
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/address_map.hpp"
#include "ledger/program_totals.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

TEST(AddressMap, FindsTheLargestFreeBlock) {
  AddressMap map;
  EXPECT_EQ(map.largest_free(100, 1000), 1000u);
  EXPECT_EQ(map.lowest(), std::nullopt);
  map.add({400, 500});
  map.add({1000, 1100});
  EXPECT_EQ(map.largest_free(100, 1000), 500u);  // 500..1000
  map.remove({400, 500});
  EXPECT_EQ(map.largest_free(100, 1000), 900u);
  EXPECT_EQ(map.lowest(), 1000u);
  const std::vector<AddressRange> others = {{300, 310}};
  EXPECT_EQ(map.largest_free(100, 1000, others), 690u);
}

TEST(AddressMap, SurvivesRangesThatMakeNoSense) {
  AddressMap map;
  map.add({0, ~0ull});
  map.add({50, 60});
  EXPECT_EQ(map.largest_free(10, 100), 0u);
  map.remove({0, ~0ull});
  EXPECT_EQ(map.largest_free(~0ull - 5, 100), 5u);
  EXPECT_EQ(map.largest_free(70, 0), 0u);
}

TEST(AddressMap, EqualsASetOfBytesAfterAnyChanges) {
  std::mt19937 random(11);
  AddressMap map;
  std::vector<AddressRange> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || (live.size() < 50 && random() % 5 < 3)) {
      const std::uint64_t begin = random() % 512;
      live.push_back({begin, begin + 1 + random() % 16});
      map.add(live.back());
    } else {
      std::swap(live[random() % live.size()], live.back());
      map.remove(live.back());
      live.pop_back();
    }
    if (step % 7 != 0) continue;
    std::vector<bool> taken(600);
    for (const AddressRange& range : live) {
      for (std::uint64_t at = range.begin; at < range.end; ++at) taken[at] = true;
    }
    std::uint64_t largest = 0, run = 0;
    for (std::uint64_t at = 20; at < 520; ++at) {
      run = taken[at] ? 0 : run + 1;
      largest = std::max(largest, run);
    }
    ASSERT_EQ(map.largest_free(20, 500), largest) << "step " << step;
  }
}

// Programs at the same address, as the original's own test has them.
TEST(Reserved, IsTheUnionOfAllLivePrograms) {
  World world;
  const SetIndex set = world.set({1});
  world.program(9, set, {});
  EXPECT_EQ(world.reserved(), 0u);  // a program alone changes nothing
  world.drop(9);

  world.program(1, set, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  EXPECT_EQ(world.reserved(), 8192u);
  world.program(2, set, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  EXPECT_EQ(world.reserved(), 8192u);
  world.program(2, set, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  EXPECT_EQ(world.reserved(), 8192u);
  world.program(3, set, {{kProgramBase, 6144, {1, 0, 2, 0}}});
  EXPECT_EQ(world.reserved(), 16384u);
  world.drop(1);
  EXPECT_EQ(world.reserved(), 16384u);
  world.drop(2);
  EXPECT_EQ(world.reserved(), 12288u);
  world.drop(3);
  EXPECT_EQ(world.reserved(), 0u);
}

TEST(Reserved, IsKeptByDevice) {
  World world(2);
  const SetIndex first = world.set({1}), second = world.set({2});
  const auto both = [&] { return std::pair(world.reserved(1), world.reserved(2)); };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  world.program(1, first, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  EXPECT_EQ(both(), Pair(8192, 0));
  world.program(1, second, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  EXPECT_EQ(both(), Pair(8192, 8192));
  world.program(1, second, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  EXPECT_EQ(both(), Pair(8192, 8192));
  world.program(2, first, {{kProgramBase, 2048, {2, 0, 2, 0}}});
  EXPECT_EQ(both(), Pair(10240, 8192));
  world.drop(1);
  EXPECT_EQ(both(), Pair(2048, 0));
  world.drop(2);
  EXPECT_EQ(both(), Pair(0, 0));
  EXPECT_EQ(world.check(), "");
}

TEST(Reserved, EqualsASetOfBytesPerCore) {
  constexpr unsigned kSeed = 35;
  std::mt19937 random(kSeed);
  const auto pick = [&](unsigned below) { return static_cast<std::uint8_t>(random() % below); };
  World world(1, 8, 8);
  const SetIndex set = world.set({1});
  std::map<std::pair<int, int>, std::set<std::uint64_t>> bytes;
  std::vector<Cb> cbs;
  EXPECT_EQ(world.reserved(), 0u);
  for (int i = 0; i < 200; ++i) {
    const std::uint8_t x = pick(4), y = pick(4);
    Cb cb;
    cb.cores = {x, y, static_cast<std::uint8_t>(x + pick(3)),
                static_cast<std::uint8_t>(y + pick(3))};
    cb.address = random() % 128;
    cb.size = 1 + random() % 32;
    for (int cx = cb.cores.x0; cx <= cb.cores.x1; ++cx) {
      for (int cy = cb.cores.y0; cy <= cb.cores.y1; ++cy) {
        for (std::uint64_t at = 0; at < cb.size; ++at) bytes[{cx, cy}].insert(cb.address + at);
      }
    }
    world.program(static_cast<std::uint64_t>(i + 1), set, {cb});
    std::uint64_t expected = 0;
    for (const auto& [core, set_of_bytes] : bytes) expected += set_of_bytes.size();
    ASSERT_EQ(world.reserved(), expected) << "seed " << kSeed << ", range " << i;
  }
  for (const CoreView& core : world.ledger.cores(1, false)) {
    const auto found = bytes.find({core.core.x, core.core.y});
    const bool worker = core.role == Role::kWorker;
    EXPECT_EQ(core.reserved, worker && found != bytes.end() ? found->second.size() : 0u);
  }
}

TEST(RangeUnion, IsSortedWithoutOverlapsOrEmptyRanges) {
  std::mt19937 random(35);
  RangeUnion ranges;
  EXPECT_TRUE(ranges.ranges().empty());
  ranges.add({5, 5});
  EXPECT_TRUE(ranges.ranges().empty());
  std::vector<AddressRange> added;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t begin = random() % 128;
    added.push_back({begin, begin + 1 + random() % 32});
    ranges.add(added.back());
    std::uint64_t cursor = 0;
    for (const AddressRange& range : ranges.ranges()) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_TRUE(cursor == 0 || range.begin > cursor);
      cursor = range.end;
    }
  }
  for (const AddressRange& range : added) ranges.remove(range);
  EXPECT_TRUE(ranges.empty());
  EXPECT_TRUE(ranges.ranges().empty());
}

}  // namespace
}  // namespace ttmem::ledger
