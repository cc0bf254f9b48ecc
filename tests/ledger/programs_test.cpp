// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Residency: what the last launched program or trace keeps in the L1 of each core.
#include <array>

#include <gtest/gtest.h>

#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr CoreRange kGrid = {0, 0, 10, 9};  // 110 cores

// The numbers that the device's own table of circular buffers showed for the original.
TEST(Resident, EqualsTheTableOfTheDevice) {
  World world(1, 11, 10);
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 4096, kGrid}});
  EXPECT_EQ(world.resident(), 0u);  // registered is not resident
  world.dispatch(1);
  EXPECT_EQ(world.resident(), 450560u);
  world.replace_ranges(1, set, {{kProgramBase, 18432, kGrid}});
  EXPECT_EQ(world.resident(), 2027520u);
  EXPECT_EQ(world.check(), "");
}

TEST(Resident, OfATraceIsThePeakOfItsMembersOnEachCore) {
  World world(1, 11, 10);
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 4096, kGrid}});
  world.program(2, set, {{kProgramBase, 32768, kGrid}});
  world.program(3, set, {{kProgramBase, 4096, kGrid}});
  for (const std::uint64_t id : {1, 2, 3}) world.dispatch(id);
  EXPECT_EQ(world.resident(), 450560u);
  world.trace(7, set, {{1, set}, {2, set}, {3, set}});
  EXPECT_EQ(world.resident(), 450560u);  // captured, not replayed
  world.replay(7);
  EXPECT_EQ(world.resident(), 3604480u);  // and not 450,560, the last member
  world.dispatch(1);
  EXPECT_EQ(world.resident(), 450560u);
  world.replay(7);
  EXPECT_EQ(world.resident(), 3604480u);
  world.release_trace(7);
  EXPECT_EQ(world.resident(), 450560u);
  EXPECT_EQ(world.check(), "");
}

TEST(Resident, OfATraceTakesEachCoreByItself) {
  World world;
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 1000, {0, 0, 0, 0}}});
  world.program(2, set, {{kProgramBase, 10, {0, 0, 1, 0}}});
  world.trace(7, set, {{1, set}, {2, set}});
  world.replay(7);
  EXPECT_EQ(world.resident(), 1010u);
}

// The table of docs/figures.md, step by step.
TEST(Resident, ShowsAAgainAfterABA) {
  World world;
  const SetIndex set = world.set({1});
  using Figures = std::array<std::uint64_t, 3>;
  const auto figures = [&] {
    return Figures{world.resident(), world.reserved(), world.allocated()};
  };
  world.program(1, set, {{kProgramBase, 4096, {0, 0, 7, 7}}});
  world.program(2, set, {{kProgramBase, 8192, {0, 0, 3, 7}}});
  EXPECT_EQ(figures(), (Figures{0, 393216, 524288}));
  world.dispatch(1);
  EXPECT_EQ(figures(), (Figures{262144, 393216, 524288}));
  world.dispatch(2);  // cores that it does not reach keep what they had
  EXPECT_EQ(figures(), (Figures{393216, 393216, 524288}));
  world.dispatch(1);
  EXPECT_EQ(figures(), (Figures{262144, 393216, 524288}));
  world.drop(1);  // the last live one that covers a core
  EXPECT_EQ(figures(), (Figures{262144, 262144, 262144}));
  world.drop(2);
  EXPECT_EQ(figures(), (Figures{0, 0, 0}));
  EXPECT_EQ(world.check(), "");
}

TEST(Resident, AProgramWithoutProgramL1ClearsTheCoresItRunsOn) {
  World world;
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 4096, {0, 0, 7, 7}}});
  world.program(2, set, {}, {{1000, {0, 0, 0, 7}}});
  world.dispatch(1);
  world.dispatch(2);
  EXPECT_EQ(world.resident(), 56u * 4096);
}

TEST(Resident, IsClippedBelowTheLowestBuffer) {
  World world;
  const SetIndex set = world.set({1});
  const AllocatorIndex allocator = world.allocator(set);
  world.program(1, set, {{kProgramBase, 1 << 20, {0, 0, 7, 7}}});
  world.dispatch(1);
  EXPECT_EQ(world.resident(), 64ull << 20);
  // A buffer on four cores limits the programs of every core: buffers go in lock step.
  const std::uint64_t floor = kProgramBase + 1000000;
  const SlotIndex slot =
      world.buffer(allocator, Space::kL1, floor, 4096, 16384, world.cores({0, 0, 3, 0}));
  EXPECT_EQ(world.resident(), 64ull * 1000000);
  EXPECT_EQ(world.figures().headroom.min, 1000000 - (1 << 20));
  EXPECT_EQ(world.figures().l1_used(), 64ull * 1000000 + 64 * 4096);
  EXPECT_EQ(world.check(), "");
  world.clear(slot);
  EXPECT_EQ(world.resident(), 64ull << 20);
}

TEST(Resident, EndsWhenTheDeviceCloses) {
  World world(2);
  const SetIndex set = world.set({1, 2});
  world.program(1, set, {{kProgramBase, 4096, {0, 0, 7, 7}}}, {{1000, {0, 0, 7, 7}}});
  world.dispatch(1);
  world.close(1);
  EXPECT_EQ(world.resident(1), 0u);
  EXPECT_EQ(world.figures(1).kernels.total().footprint, 0u);
  EXPECT_EQ(world.figures(1).headroom.min, std::nullopt);
  EXPECT_EQ(world.resident(2), 64u * 4096);
  EXPECT_EQ(world.figures(2).kernels.total().footprint, 64000u);
  EXPECT_EQ(world.check(), "");
}

TEST(Resident, HeldProgramsCountOnlyThroughTheirTrace) {
  World world;
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 4096, {0, 0, 7, 7}}}, {{1000, {0, 0, 7, 7}}});
  world.dispatch(1);
  world.trace(7, set, {{1, set}});
  world.hold(1, set);
  EXPECT_EQ(world.resident(), 0u);
  EXPECT_EQ(world.reserved(), 0u);
  EXPECT_EQ(world.allocated(), 0u);
  EXPECT_EQ(world.figures().kernels.total().footprint, 0u);
  world.replay(7);
  EXPECT_EQ(world.resident(), 64u * 4096);
  EXPECT_EQ(world.reserved(), 0u);
  EXPECT_EQ(world.check(), "");
}

TEST(Resident, MergesTheSetsOfAChip) {
  World world(2);
  const SetIndex both = world.set({1, 2}), one = world.set({1});
  world.program(1, both, {{kProgramBase, 4096, {0, 0, 7, 7}}});
  world.program(2, one, {{kProgramBase, 1024, {0, 0, 0, 0}}});
  world.dispatch(1);
  world.dispatch(2);
  EXPECT_EQ(world.resident(1), 63u * 4096 + 1024);
  EXPECT_EQ(world.resident(2), 64u * 4096);
  EXPECT_EQ(world.reserved(1), 64u * 4096);  // what both reserve on a core counts once
  EXPECT_EQ(world.allocated(1), 64u * 4096 + 1024);
  EXPECT_EQ(world.check(), "");
}

TEST(ProgramL1, CountsDataflowBuffersAndScratchpadsAndNoViews) {
  World world;
  const SetIndex set = world.set({1});
  const CoreRange one = {0, 0, 0, 0};
  world.program(1, set,
                {{kProgramBase, 100, one, Part::kDataflowBuffer},
                 {kProgramBase + 128, 50, one, Part::kScratchpad},
                 {1400000, 5000, one, Part::kView, 77}});
  world.dispatch(1);
  EXPECT_EQ(world.resident(), 150u);
  EXPECT_EQ(world.reserved(), 150u);
  EXPECT_EQ(world.allocated(), 150u);
  EXPECT_EQ(world.figures().program_l1.count, 1u);
  const CoreView core = world.ledger.cores(1, true).front();
  EXPECT_EQ(core.program_l1, 150u);
  EXPECT_EQ(core.gaps, 28u);
  const std::vector<ProgramView> programs = world.ledger.programs();
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].views, 1u);
  EXPECT_EQ(programs[0].l1_largest_core, 150u);
}

TEST(ProgramL1, GrowsWithTheProgramCacheOnlyInTheAllocatedFigure) {
  World world;
  const SetIndex set = world.set({1});
  for (std::uint64_t id = 1; id <= 100; ++id) {
    world.program(id, set, {{kProgramBase, 1 << 20, {0, 0, 7, 7}}});
    world.dispatch(id);
  }
  EXPECT_EQ(world.allocated(), 6400ull << 20);  // above any L1: alternatives, not a sum
  EXPECT_EQ(world.reserved(), 64ull << 20);
  EXPECT_EQ(world.resident(), 64ull << 20);
  EXPECT_EQ(world.check(), "");
}

TEST(Headroom, CountsFromTheEndOfTheProgramToTheLowestBuffer) {
  World world;
  const SetIndex set = world.set({1});
  EXPECT_EQ(world.figures().headroom.min, kL1Bytes - kProgramBase);
  const AllocatorIndex allocator = world.allocator(set, 32768);
  EXPECT_EQ(world.figures().headroom.min, kL1Bytes - kProgramBase - 32768);
  world.buffer(allocator, Space::kL1, 1000000, 4096, 4096);
  EXPECT_EQ(world.figures().headroom.min, 1000000 - std::int64_t{kProgramBase});
  world.program(1, set, {{kProgramBase, 800000, {3, 4, 3, 4}}});
  EXPECT_EQ(world.figures().headroom.min, 1000000 - std::int64_t{kProgramBase});
  EXPECT_EQ(world.figures().headroom.min_reserved, 1000000 - std::int64_t{kProgramBase} - 800000);
  world.dispatch(1);
  EXPECT_EQ(world.figures().headroom.min, 1000000 - std::int64_t{kProgramBase} - 800000);
  EXPECT_EQ(world.figures().headroom.core, (Core{CoreType::kTensix, 3, 4}));
}

TEST(Headroom, ANegativeOneNamesBothSides) {
  World world;
  const SetIndex set = world.set({1});
  const AllocatorIndex allocator = world.allocator(set);
  world.program(1, set, {{kProgramBase, 800000, {3, 4, 3, 4}}});
  world.dispatch(1);
  world.buffer(allocator, Space::kL1, 900000, 4096, 4096);
  EXPECT_EQ(world.figures().headroom.min, 900000 - std::int64_t{kProgramBase} - 800000);
  for (const CoreView& core : world.ledger.cores(1, false)) {
    const bool clash = core.core == Core{CoreType::kTensix, 3, 4};
    EXPECT_EQ(core.headroom.value_or(0) < 0, clash);
    ASSERT_EQ(core.clash.has_value(), clash);
    if (!clash) continue;
    EXPECT_EQ(core.clash->program, "program 0x1");
    EXPECT_EQ(core.clash->buffer, "buffer 0x4");
  }
  PeakMemory peaks;
  const std::vector<ProcessInput> inputs = {world.input(42)};
  const Snapshot snapshot = assemble(inputs, peaks);
  const auto merged =
      merge_cores(inputs, snapshot, snapshot.devices[0], false, Core{CoreType::kTensix, 3, 4});
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].clash->process->name, "python3");
  EXPECT_EQ(merged[0].clash->process->pid, 42);
}

TEST(Headroom, AClashNamesTheBufferOfItsOwnCore) {
  World world;
  const SetIndex set = world.set({1});
  const AllocatorIndex allocator = world.allocator(set, 0, true);
  world.program(1, set, {{kProgramBase, 800000, {0, 0, 1, 0}}});
  world.dispatch(1);
  for (const std::uint8_t x : {0, 1, 2}) {  // one address, a buffer a core
    BufferRecord buffer;
    buffer.id = 10u + x;
    buffer.allocator = allocator;
    buffer.set = set;
    buffer.space = Space::kL1;
    buffer.address = 900000;
    buffer.block = 4096;
    buffer.per_core = true;
    buffer.cores = world.cores({x, 0, x, 0});
    world.apply(buffer);
  }
  const auto cores = world.ledger.cores(1, false);
  EXPECT_EQ(cores[0].clash->buffer, "buffer 0xa");
  EXPECT_EQ(cores[1].clash->buffer, "buffer 0xb");
  EXPECT_FALSE(cores[2].clash);
}

TEST(Headroom, AProgramBeyondTheL1RunsIntoNoBuffer) {
  World world;
  const SetIndex set = world.set({1});
  world.allocator(set);
  world.program(1, set, {{kL1Bytes - 10, 20, {0, 0, 0, 0}}});
  world.dispatch(1);
  const auto cores = world.ledger.cores(1, false);
  EXPECT_EQ(cores[0].headroom, -10);
  EXPECT_EQ(cores[0].clash->program, "program 0x1");
  EXPECT_EQ(cores[0].clash->buffer, "");
}

}  // namespace
}  // namespace ttmem::ledger
