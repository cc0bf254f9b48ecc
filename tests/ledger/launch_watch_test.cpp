// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Series of launches from counters alone. Ticks are nanoseconds here.
#include "ledger/launch_watch.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr TimeNs kSecond = kLaunchIntervalNs, kStart = 1'000'000 * kSecond;

class Watching : public ::testing::Test {
 protected:
  Watching() : set(world.set({1})) {
    program_slot = world.apply(program_record(7, 70));
    workload = world.apply(WorkloadRecord{.id = 70, .set = set});
  }
  ProgramRecord program_record(std::uint64_t id, std::uint64_t of) const {
    return {.id = id, .workload = of, .set = set, .loaded = true};
  }
  void launches(std::uint64_t count, TimeNs first, TimeNs last, SlotIndex slot) {
    world.ledger.set_launches(slot, {count, ++stamp, first, last});
  }
  void launches(std::uint64_t count, TimeNs last) { launches(count, kStart, last, workload); }
  void look(TimeNs now) {
    watch.look(world.ledger, now, [](Ticks ticks) { return ticks; });
  }
  ProgramView view(std::uint64_t id = 7) {
    Naming naming;
    naming.watch = &watch;
    naming.with_launches = true;
    for (const ProgramView& each : world.ledger.programs(naming)) {
      if (each.id == id) return each;
    }
    return {};
  }
  std::vector<LaunchInterval> intervals(std::uint64_t id = 7) {
    return view(id).launches.value_or(LaunchSeries{}).intervals;
  }
  World world;
  SetIndex set;
  SlotIndex program_slot = 0, workload = 0;
  LaunchWatch watch;
  std::uint64_t stamp = 0;
};

TEST_F(Watching, WhatCameBeforeTheFirstLookHasNoTime) {
  launches(1000, kStart);
  look(kStart + 500 * kSecond);
  EXPECT_TRUE(intervals().empty());
  EXPECT_EQ(view().recent_per_second, 0.0) << "the last launch was long ago";
}

TEST_F(Watching, NothingIsKnownOfARateAfterOneLook) {
  launches(1000, kStart);
  look(kStart);
  EXPECT_EQ(view().recent_per_second, std::nullopt);
}

// Two launches a millisecond for three and a half seconds, seen in two looks.
TEST_F(Watching, LaunchesAreSpreadOverTheTimeBetweenTwoLooks) {
  launches(10, kStart);
  look(kStart + kSecond / 2);
  launches(10 + 7000, kStart + 4 * kSecond);
  look(kStart + 4 * kSecond);
  const auto seen = intervals();
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].marks, kMarkFirstLoad);
  EXPECT_EQ(seen[0].launches, 1000u);
  EXPECT_EQ(seen[1].launches, 2000u);
  EXPECT_EQ(seen[2].launches, 2000u);
  EXPECT_EQ(seen[3].launches, 2000u);
}

TEST_F(Watching, TheFirstLoadIsMarkedWhenItIsSeen) {
  look(kStart);  // registered, and never launched
  EXPECT_TRUE(intervals().empty());
  launches(1, kStart + 3 * kSecond, kStart + 3 * kSecond, workload);
  look(kStart + 5 * kSecond);
  ASSERT_EQ(intervals().size(), 1u);
  EXPECT_EQ(intervals()[0].time, kStart + 3 * kSecond);
  EXPECT_EQ(intervals()[0].marks, kMarkFirstLoad);
  EXPECT_EQ(intervals()[0].launches, 1u);
}

TEST_F(Watching, SumsAreExact) {
  std::uint64_t count = 0;
  look(kStart);
  for (int i = 1; i <= 40; ++i) {
    count += static_cast<std::uint64_t>(i) * 17;
    launches(count, kStart + static_cast<TimeNs>(i) * 377'000'000);
    look(kStart + static_cast<TimeNs>(i) * 377'000'001);
  }
  std::uint64_t sum = 0;
  for (const LaunchInterval& each : intervals()) sum += each.launches;
  EXPECT_EQ(sum, count);
}

TEST_F(Watching, NoneIsPutAfterTheLastOne) {
  launches(1, kStart);
  look(kStart + kSecond);
  launches(101, kStart + 2 * kSecond - 1);
  look(kStart + 60 * kSecond);
  const auto seen = intervals();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].time, kStart + kSecond);
  EXPECT_EQ(seen[1].launches, 100u);
}

TEST_F(Watching, TheRecentRateIsThatOfTheLastTenSeconds) {
  launches(1, kStart);
  look(kStart + kSecond);
  launches(1 + 5000, kStart + 51 * kSecond);
  look(kStart + 51 * kSecond);
  EXPECT_NEAR(*view().recent_per_second, 100.0, 12.0);
  watch.pass(kStart + 80 * kSecond);
  EXPECT_EQ(view().recent_per_second, 0.0);
}

TEST_F(Watching, TwoLooksCloseTogetherGiveARate) {
  launches(1, kStart);
  look(kStart + kSecond);
  launches(31, kStart + kSecond + 300'000'000);
  look(kStart + kSecond + 300'000'000);
  EXPECT_NEAR(*view().recent_per_second, 100.0, 0.001);
}

TEST_F(Watching, OnlyTheWindowIsKept) {
  launches(1, kStart);
  look(kStart);
  for (TimeNs second = 1; second <= 1000; ++second) {
    launches(1 + second, kStart + second * kSecond);
    look(kStart + second * kSecond);
  }
  EXPECT_EQ(intervals().size(), kLaunchIntervals - 1) << "the one that goes on has none yet";
  launches(1 + 1000 + 100'000, kStart + 2000 * kSecond);
  look(kStart + 2000 * kSecond);  // nobody looked for 1,000 s: 300 of them are kept
  std::uint64_t sum = 0;
  for (const LaunchInterval& each : intervals()) sum += each.launches;
  EXPECT_NEAR(static_cast<double>(sum), 29'900, 150);
}

TEST_F(Watching, AReplayIsALaunchOfEachMember) {
  world.apply(program_record(8, 80));
  world.apply(WorkloadRecord{.id = 80, .set = set});
  world.apply(program_record(9, 90));
  world.apply(WorkloadRecord{.id = 90, .set = set});
  world.ledger.set_members(500, {{7, set}, {8, set}});
  const SlotIndex trace = world.apply(TraceRecord{.id = 3, .set = set, .members = 500});
  look(kStart);
  launches(2, kStart + kSecond);
  launches(5, kStart + kSecond, kStart + kSecond, trace);
  look(kStart + kSecond);
  ASSERT_FALSE(intervals(7).empty());
  EXPECT_EQ(view(7).replays, 5u);
  const auto total = [&](std::uint64_t id) {
    std::pair<std::uint64_t, std::uint64_t> sums;
    for (const LaunchInterval& each : intervals(id)) {
      sums.first += each.launches;
      sums.second += each.replays;
    }
    return sums;
  };
  EXPECT_EQ(total(7), std::pair(7ul, 5ul)) << "two launches of its own, five replays";
  EXPECT_EQ(total(8), std::pair(5ul, 5ul));
  EXPECT_EQ(total(9), std::pair(0ul, 0ul));
  world.clear(trace);
  look(kStart + 2 * kSecond);
  EXPECT_EQ(total(8), std::pair(5ul, 5ul)) << "what was replayed stays when the trace goes";
  EXPECT_EQ(view(8).replays, 0u);
}

TEST_F(Watching, ReloadsAndEvictionsAreMarked) {
  RingManagerRecord manager;
  manager.set = set;
  manager.open = true;
  manager.rings.push_back({.base = kRingBase, .bytes = kRingBytes});
  manager.rings[0].contents = {{kRingBase, 1000, 70}};
  world.ring_manager(manager);
  launches(1, kStart);
  look(kStart + 400 * kSecond);
  manager.rings[0].contents = {{kRingBase, 1000, 80}};
  world.ring_manager(manager);
  look(kStart + 401 * kSecond);
  auto seen = intervals();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].marks, kMarkEviction);
  world.ledger.apply(workload, WorkloadRecord{.id = 70, .set = set, .reloads = 1});
  launches(2, kStart + 402 * kSecond + kSecond / 2);
  look(kStart + 402 * kSecond + kSecond / 2);
  seen = intervals();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].marks, kMarkReload);
  EXPECT_EQ(seen[1].launches, 1u);
}

TEST_F(Watching, AnIdThatIsUsedAgainStartsAgain) {
  launches(1000, kStart);
  look(kStart);
  world.ledger.apply(workload, WorkloadRecord{.id = 70, .set = set});
  launches(3, kStart + kSecond, kStart + kSecond, workload);
  look(kStart + kSecond);
  ASSERT_FALSE(intervals().empty());
  EXPECT_EQ(intervals().back().launches, 3u);
}

TEST_F(Watching, AClockThatIsSetBackBreaksNothing) {
  launches(1, kStart);
  look(kStart);
  launches(11, kStart);
  look(kStart - 50 * kSecond);
  launches(21, kStart);
  look(kStart + 10 * kSecond);
  std::uint64_t sum = 0;
  for (const LaunchInterval& each : intervals()) sum += each.launches;
  EXPECT_EQ(sum, 20u);
}

TEST_F(Watching, HostileCountersEnd) {
  launches(1, kStart);
  look(kStart);
  launches(~0ull, ~0ull, ~0ull, workload);
  look(kStart + kSecond);
  launches(~0ull, 1, 1, workload);
  look(~0ull - 1);
  EXPECT_LE(intervals().size(), kLaunchIntervals);
}

TEST(LaunchSeries, AFailureIsMarkedInItsInterval) {
  LaunchSeries series{.since = kStart, .until = kStart + 100 * kSecond, .intervals = {}};
  series.mark(kStart + 5 * kSecond + 7, kMarkFailure);
  series.mark(kStart + 101 * kSecond, kMarkFailure);
  series.mark(kStart - 400 * kSecond, kMarkFailure);
  ASSERT_EQ(series.intervals.size(), 1u);
  EXPECT_EQ(series.intervals[0].time, kStart + 5 * kSecond);
  EXPECT_EQ(series.intervals[0].marks, kMarkFailure);
}

}  // namespace
}  // namespace ttmem::ledger
