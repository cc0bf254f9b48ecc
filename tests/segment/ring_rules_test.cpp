// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/ring_rules.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ttmem::segment {
namespace {

constexpr std::uint32_t kBase = 35008, kBytes = 70656, kWorkers = 64;

struct OneRing {
  RingManager manager = {};
  RingRules rules{manager};
  explicit OneRing(std::uint32_t core_type = 0) {
    manager.ring_count = 1;
    manager.rings[0].core_type = core_type;
    manager.rings[0].base = kBase;
    manager.rings[0].bytes = kBytes;
    rules.reset();
  }
  Ring& ring() { return manager.rings[0]; }
  RingPlan launch(std::uint32_t bytes, bool first = false) {
    return rules.launch(&bytes, 1, kWorkers, first, 1);
  }
  std::string in_use() {
    std::string used;
    for (std::uint32_t i = ring().free_index; i != ring().alloc_index; i = (i + 1) % kRingEntries) {
      used += std::to_string(i);
    }
    return used;
  }
};

// The Tensix ring of a Wormhole, 64 workers a program, all binaries committed.
TEST(RingRules, FollowTheRuntimeStepByStep) {
  struct Step {
    std::uint32_t bytes;
    int wait_for;  // -1 = does not wait
    std::uint32_t address;
    const char* in_use;
  };
  const Step steps[] = {
      {20000, -1, 35008, "0"},       {20000, -1, 55008, "01"},    {20000, -1, 75008, "012"},
      {20000, 64, 35008, "123"},     {1600, 128, 55008, "234"},   {1600, -1, 56608, "2345"},
      {1600, -1, 58208, "23456"},    {1600, -1, 59808, "234567"}, {1600, -1, 61408, "2345670"},
      {1600, 192, 63008, "3456701"}, {70656, 640, 35008, "2"},    {16, 704, 35008, "3"},
  };
  OneRing one;
  int number = 0;
  for (const Step& step : steps) {
    SCOPED_TRACE("step " + std::to_string(++number));
    const RingPlan plan = one.launch(step.bytes);
    EXPECT_EQ(plan.address[0], step.address);
    EXPECT_EQ(plan.waits, step.wait_for >= 0);
    if (plan.waits) {
      EXPECT_EQ(plan.wait_for, static_cast<std::uint32_t>(step.wait_for));
    }
    EXPECT_EQ(one.in_use(), step.in_use);
  }
  EXPECT_EQ(one.manager.expected, 12 * kWorkers);
  EXPECT_EQ(one.ring().largest_bytes, kBytes);
  EXPECT_EQ(one.ring().high_water, kBytes);
}

TEST(RingRules, AFirstLaunchFreesEverythingBefore) {
  OneRing one;
  one.launch(20000);
  one.launch(20000);
  one.launch(20000, true);
  EXPECT_EQ(one.in_use(), "2");
}

TEST(RingRules, ReservingTakesNothing) {
  OneRing one;
  const std::uint32_t bytes = 1000;
  one.rules.reserve(&bytes, 1);
  EXPECT_EQ(one.in_use(), "");
  EXPECT_EQ(one.manager.reserves, 0u);
}

TEST(RingRules, NoBytesTakeNoEntry) {
  OneRing one;
  one.launch(1000);
  const RingPlan plan = one.launch(0);
  EXPECT_EQ(plan.bytes[0], 0u);
  EXPECT_FALSE(plan.waits);
  EXPECT_EQ(one.in_use(), "0");
}

TEST(RingRules, ActiveEthernetAlwaysStartsAtTheBase) {
  OneRing one(1);
  EXPECT_EQ(one.launch(100).address[0], kBase);
  const RingPlan second = one.launch(100);
  EXPECT_EQ(second.address[0], kBase);
  EXPECT_TRUE(second.waits);
  EXPECT_EQ(second.wait_for, kWorkers);
}

TEST(RingRules, AFullRingIsOneEntryThatTheNextLaunchWaitsFor) {
  OneRing one;
  one.launch(1000);
  one.rules.fill(500);
  EXPECT_EQ(one.in_use(), "0");
  EXPECT_EQ(one.ring().entries[0].bytes, kBytes);
  EXPECT_EQ(one.ring().entries[0].workload, RingRules::kEverybody);
  EXPECT_EQ(one.ring().entries[1].address, kBase + kBytes);
  const RingPlan plan = one.launch(16);
  EXPECT_TRUE(plan.waits);
  EXPECT_EQ(plan.wait_for, 500u);
  EXPECT_EQ(plan.address[0], kBase);
}

TEST(RingRules, AResetRingIsEmpty) {
  OneRing one;
  one.launch(1000);
  one.rules.reset();
  EXPECT_EQ(one.in_use(), "");
  EXPECT_EQ(one.launch(16).address[0], kBase);
}

TEST(RingRules, TheLongestWaitOfAllRingsCounts) {
  RingManager manager = {};
  RingRules rules(manager);
  manager.ring_count = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    manager.rings[i].core_type = i * 2;
    manager.rings[i].base = kBase;
    manager.rings[i].bytes = kBytes;
  }
  rules.reset();
  const std::uint32_t first[] = {kBytes, 0}, second[] = {0, kBytes}, both[] = {16, 16};
  rules.launch(first, 2, kWorkers, false, 1);
  rules.launch(second, 2, kWorkers, false, 2);
  const RingPlan plan = rules.reserve(both, 2);
  EXPECT_TRUE(plan.waits);
  EXPECT_EQ(plan.wait_for, 2 * kWorkers);
}

TEST(RingRules, ACounterThatWouldWrapFillsTheRing) {
  OneRing one;
  one.launch(1000);
  one.manager.expected = UINT32_MAX - 10;
  one.launch(1000);
  EXPECT_EQ(one.manager.expected, kWorkers);
  EXPECT_EQ(one.ring().entries[1].address, kBase);
}

// Whatever is in a ring, a slice goes to the cursor up to a size, and to the base beyond it.
TEST(RingRules, TheNextPlaceIsWhereEachSizeWouldGo) {
  OneRing one;
  const auto check = [&] {
    const NextPlace next = next_place(one.ring());
    for (std::uint32_t bytes = 16; bytes <= kBytes; bytes += 16) {
      const std::uint32_t expected = bytes <= next.bytes ? next.address : kBase;
      ASSERT_EQ(one.rules.reserve(&bytes, 1).address[0], expected) << bytes;
    }
  };
  check();
  EXPECT_EQ(next_place(one.ring()).bytes, kBytes);
  for (const std::uint32_t bytes :
       {20000u, 20000u, 20000u, 20000u, 1600u, 1600u, 1600u, 33000u, 5008u, 64000u, 70656u, 16u}) {
    one.launch(bytes);
    check();
  }
  one.rules.fill(1);
  check();
  OneRing ethernet(1);
  ethernet.launch(200);
  EXPECT_EQ(next_place(ethernet.ring()).address, kBase) << "an ethernet core has one program";
}

TEST(RingRules, TheNextPlaceOfARingThatMakesNoSense) {
  Ring ring = {};
  ring.base = 0xFFFFFF00;
  ring.bytes = 0xFFFFFFFF;
  ring.alloc_index = 0xFFFFFFFF;
  ring.free_index = 3;
  for (RingEntry& entry : ring.entries) entry = {0xFFFFFFF0, 0xFFFFFFFF, 1, 0, 1};
  EXPECT_LE(next_place(ring).bytes, 0xFFFFFFFFu);  // it ends
}

}  // namespace
}  // namespace ttmem::segment
