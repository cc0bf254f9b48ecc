// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Slices and holes of a ring, with the example of docs/figures.md.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

class RingRoom : public ::testing::Test {
 protected:
  RingRoom() : set(world.set({1})) {
    for (std::uint64_t id = 1; id <= 4; ++id) {
      world.program(id, set, {}, {{.packed = 4096, .cores = {0, 0, 3, 3}}});
      world.dispatch(id);
    }
    manager.set = set;
    manager.open = true;
    ring.base = kRingBase;
    ring.bytes = kRingBytes;
  }
  RingFigures figures() {
    manager.rings = {ring};
    world.ring_manager(manager);
    return world.figures(1).rings.at(0);
  }
  // The next slice goes behind `address` if it fits up to the end of the ring.
  void cursor_at(std::uint32_t address) {
    ring.next_address = address;
    ring.next_bytes = kRingBase + kRingBytes - address;
  }
  World world;
  SetIndex set;
  RingManagerRecord manager;
  RingRecord ring;
};

TEST_F(RingRoom, AnEmptyRingIsFreeFromEndToEnd) {
  cursor_at(kRingBase);
  EXPECT_EQ(figures().free, kRingBytes);
  EXPECT_EQ(figures().largest_free, kRingBytes);
  EXPECT_EQ(figures().would_evict, 0u);
}

// Three programs of 20,000 B: 10,656 B are left behind the cursor.
TEST_F(RingRoom, WhatTheLargestWouldEvict) {
  ring.contents = {
      {kRingBase, 20000, 1}, {kRingBase + 20000, 20000, 2}, {kRingBase + 40000, 20000, 3}};
  ring.largest_bytes = 30000;
  cursor_at(kRingBase + 60000);
  EXPECT_EQ(figures().free, 10656u);
  EXPECT_EQ(figures().largest_free, 10656u);
  EXPECT_EQ(figures().would_evict, 2u) << "it goes to the base, over the first and the second";
}

TEST_F(RingRoom, ASliceWhoseProgramIsGoneIsFree) {
  ring.contents = {
      {kRingBase, 20000, 1}, {kRingBase + 20000, 20000, 2}, {kRingBase + 40000, 20000, 3}};
  ring.largest_bytes = 30000;
  cursor_at(kRingBase + 60000);
  world.drop(1);
  EXPECT_EQ(figures().free, 30656u);
  EXPECT_EQ(figures().largest_free, 20000u) << "at the base: more than behind the cursor";
  EXPECT_EQ(figures().would_evict, 1u);
}

// Free in the middle, where the runtime does not go next: it cannot be had.
TEST_F(RingRoom, AHoleThatCannotBeHad) {
  ring.contents = {{kRingBase, 20000, 1}, {kRingBase + 60000, 10656, 3}};
  cursor_at(kRingBase + kRingBytes);
  EXPECT_EQ(figures().free, 40000u);
  EXPECT_EQ(figures().largest_free, 0u);
}

TEST_F(RingRoom, TheLargestDoesNotEvictItself) {
  ring.contents = {{kRingBase, 60000, 1}};
  ring.largest_bytes = 60000;
  cursor_at(kRingBase + 60000);
  EXPECT_EQ(figures().would_evict, 0u);
}

TEST_F(RingRoom, OfSeveralThatAreAsLargeTheLastOneIsMeant) {
  ring.contents = {
      {kRingBase, 20000, 1}, {kRingBase + 20000, 20000, 2}, {kRingBase + 40000, 20000, 3}};
  ring.largest_bytes = 20000;
  cursor_at(kRingBase + 60000);
  EXPECT_EQ(figures().would_evict, 1u) << "the third one would go over the first";
}

TEST_F(RingRoom, ATraceHasItWhole) {
  ring.contents = {{kRingBase, kRingBytes, ~0ull}};
  ring.largest_bytes = 100;
  cursor_at(kRingBase + kRingBytes);
  EXPECT_EQ(figures().free, 0u);
  EXPECT_EQ(figures().largest_free, 0u);
  EXPECT_EQ(figures().would_evict, 1u);
}

TEST_F(RingRoom, SlicesBeyondTheRingAreCut) {
  ring.contents = {{kRingBase - 1000, 2000, 1}, {0xFFFFFFF0, 0xFFFFFFFF, 2}};
  cursor_at(kRingBase + 1000);
  EXPECT_EQ(figures().free, kRingBytes - 1000);
  EXPECT_EQ(figures().largest_free, kRingBytes - 1000);
}

TEST_F(RingRoom, AreToldByAddressWithNames) {
  ring.contents = {{kRingBase + 20000, 20000, 2}, {kRingBase, 20000, 1}};
  ring.slices = {{kRingBase + 20000, 20000, 2}};
  figures();
  world.drop(1);
  const std::vector<RingView> rings = world.ledger.rings(1);
  ASSERT_EQ(rings.size(), 1u);
  ASSERT_EQ(rings[0].slices.size(), 2u);
  EXPECT_EQ(rings[0].slices[0].begin, kRingBase);
  EXPECT_FALSE(rings[0].slices[0].live);
  EXPECT_EQ(rings[0].slices[1].name, "program 0x2");
  EXPECT_TRUE(rings[0].slices[1].live);
  EXPECT_TRUE(rings[0].slices[1].in_use);
  EXPECT_EQ(rings[0].figures.free, kRingBytes - 20000);
}

TEST_F(RingRoom, AProgramIsToldToBeThereOrNot) {
  const auto told = [&] {
    std::vector<std::optional<bool>> there;
    for (const ProgramView& program : world.ledger.programs()) there.push_back(program.in_ring);
    return there;
  };
  using Told = std::vector<std::optional<bool>>;
  EXPECT_EQ(told(), Told(4)) << "no ring is followed";
  ring.contents = {{kRingBase, 20000, 3}, {kRingBase + 20000, 1600, 1}};
  figures();
  EXPECT_EQ(told(), (Told{true, false, true, false}));
}

// The queue has forgotten all but one; what lies there is what a launch finds.
TEST_F(RingRoom, ACoreShowsWhatTheRingShows) {
  ring.contents = {
      {kRingBase, 20000, 1}, {kRingBase + 20000, 20000, 2}, {kRingBase + 40000, 1600, 3}};
  ring.slices = {{kRingBase + 40000, 1600, 3}};
  figures();
  world.drop(1);
  const RingView told = world.ledger.rings(1).at(0);
  const CoreView core = world.ledger.cores(1, true).front();
  EXPECT_EQ(core.ring, kRingBytes);
  EXPECT_EQ(core.ring_used, 21600u);
  EXPECT_EQ(core.ring - core.ring_used, told.figures.free);
  for (const CoreView& other : world.ledger.cores(1, true)) {
    EXPECT_EQ(other.ring_used, other.role == Role::kWorker ? 21600u : 0u) << "dispatch cores: none";
  }
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> parts;
  for (const CoreStretch& part : core.map) {
    if (part.kind == Stretch::kRing) parts.emplace_back(part.begin, part.end, part.name);
  }
  const std::uint64_t base = kRingBase;
  EXPECT_EQ(parts, (decltype(parts){{base, base + 20000, ""},
                                    {base + 20000, base + 40000, "program 0x2"},
                                    {base + 40000, base + 41600, "program 0x3"},
                                    {base + 41600, base + kRingBytes, ""}}));
}

}  // namespace
}  // namespace ttmem::ledger
