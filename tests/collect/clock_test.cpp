// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/clock.hpp"

#include <gtest/gtest.h>

namespace ttmem::collect {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(TickClock, MonotonicTicksAreNanosecondsBeforeNow) {
  const segment::Clock stored{0, 0, 50 * kSecond, 50 * kSecond, 1000 * kSecond};
  const Moment now{0, 80 * kSecond, 1031 * kSecond};  // the wall clock was set by a second
  const TickClock clock(stored, now, true);
  EXPECT_EQ(clock.wall(80 * kSecond), 1031 * kSecond);
  EXPECT_EQ(clock.wall(70 * kSecond), 1021 * kSecond);
  EXPECT_EQ(clock.wall(0), 0u) << "0 is never a time";
  EXPECT_EQ(clock.wall(90 * kSecond), 1031 * kSecond) << "nothing is later than now";
}

TEST(TickClock, TscTicksLieOnTheLineThroughBothMoments) {
  const segment::Clock stored{1, 0, 1'000'000, 10 * kSecond, 1000 * kSecond};
  const Moment now{1'000'000 + 30 * 2'500'000'000ull, 40 * kSecond, 1030 * kSecond};  // 2.5 GHz
  const TickClock clock(stored, now, true);
  EXPECT_NEAR(static_cast<double>(clock.wall(1'000'000 + 10 * 2'500'000'000ull)), 1010.0 * kSecond,
              1000);
}

TEST(TickClock, MonotonicMomentsBecomeTicks) {
  const segment::Clock stored{1, 0, 1'000'000, 10 * kSecond, 1000 * kSecond};
  const Moment now{1'000'000 + 30 * 2'500'000'000ull, 40 * kSecond, 1030 * kSecond};
  const TickClock clock(stored, now, true);
  EXPECT_NEAR(static_cast<double>(clock.wall(clock.ticks(25 * kSecond))), 1015.0 * kSecond, 1000);
  EXPECT_EQ(clock.ticks(0), 0u);
  EXPECT_EQ(clock.ticks(50 * kSecond), now.tsc);
}

TEST(TickClock, AnotherBootKnowsOnlyTheStoredMoment) {
  const segment::Clock stored{1, 0, 1'000'000, 10 * kSecond, 1000 * kSecond};
  const TickClock clock(stored, {5, 5, 2000 * kSecond}, false);
  EXPECT_EQ(clock.wall(123456789), 1000 * kSecond);
  EXPECT_EQ(clock.wall(0), 0u);
}

TEST(TickClock, HostileNumbers) {
  const segment::Clock stored{1, 0, ~0ull, ~0ull, ~0ull};
  const TickClock clock(stored, Moment::now(), true);
  clock.wall(~0ull);
  clock.wall(1);
  const segment::Clock tiny{0, 0, 0, 0, 0};
  EXPECT_LE(TickClock(tiny, Moment::now(), true).wall(1), Moment::now().wall_ns);
}

}  // namespace
}  // namespace ttmem::collect
