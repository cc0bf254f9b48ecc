// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one buffer takes, occupies and asked for; the numbers are the worked examples of
// docs/figures.md.
#include <gtest/gtest.h>

#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

struct Bytes {
  std::uint64_t requested, taken, occupied;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

Bytes bytes(const World& world, Space space, DeviceIndex device = 1) {
  const DeviceFigures figures = world.figures(device);
  const SpaceFigures& figure = figures.space(space);
  return {figure.requested.value(), figure.taken.value(), figure.occupied.value()};
}

TEST(Buffers, TakeTheirBlockInEveryBank) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}), 32768);
  // 1024 pages of 2048 over 12 banks: 86 pages in a bank.
  const SlotIndex first = world.buffer(allocator, Space::kDram, 1048640, 86 * 2048, 2097152);
  EXPECT_EQ(bytes(world, Space::kDram), (Bytes{2097152, 2113536, 2113536}));
  const SlotIndex second = world.buffer(allocator, Space::kDram, 1048640 + 176128, 176128, 2097152);
  EXPECT_EQ(bytes(world, Space::kDram), (Bytes{4194304, 4227072, 4227072}));
  world.clear(first);
  world.clear(second);
  EXPECT_EQ(bytes(world, Space::kDram), (Bytes{0, 0, 0}));

  const SlotIndex page = world.buffer(allocator, Space::kDram, 1048640, 2048, 2048);
  EXPECT_EQ(bytes(world, Space::kDram), (Bytes{2048, 24576, 24576}));
  world.clear(page);
  world.clear(world.buffer(allocator, Space::kL1, 1400000, 2048, 2048));
  const SlotIndex l1 = world.buffer(allocator, Space::kL1, 1400000, 2048, 2048);
  EXPECT_EQ(bytes(world, Space::kL1), (Bytes{2048, 131072, 131072}));
  world.clear(l1);
  const CoresId four = world.cores({0, 0, 3, 0});
  world.buffer(allocator, Space::kL1, 1400000, 32768, 131072, four);
  EXPECT_EQ(bytes(world, Space::kL1), (Bytes{131072, 2097152, 131072}));
  const CoresId all = world.cores({0, 0, 7, 7});
  world.buffer(allocator, Space::kL1Small, kL1Bytes - 32, 32, 4 * 64, all);
  EXPECT_EQ(bytes(world, Space::kL1Small), (Bytes{256, 2048, 2048}));
  EXPECT_EQ(world.check(), "");
}

TEST(Buffers, StandOnEveryChipOfTheirSet) {
  World world(4);
  const AllocatorIndex pair = world.allocator(world.set({1, 3}));
  const AllocatorIndex all = world.allocator(world.set({1, 2, 3, 4}));
  world.buffer(pair, Space::kDram, 2000000, 1000, 12000);
  world.buffer(all, Space::kDram, 3000000, 10, 120);
  EXPECT_EQ(bytes(world, Space::kDram, 1).taken, 12120u);
  EXPECT_EQ(bytes(world, Space::kDram, 2).taken, 120u);
  EXPECT_EQ(bytes(world, Space::kDram, 3).taken, 12120u);
  EXPECT_EQ(world.figures(1).space(Space::kDram).count, 2u);
  EXPECT_EQ(world.check(), "");
}

TEST(Buffers, LargestFreeBlockIsTheSmallestOfTheAllocatorsThatCoverTheChip) {
  World world(2);
  const AllocatorIndex one = world.allocator(world.set({1}));
  const AllocatorIndex both = world.allocator(world.set({1, 2}));
  const std::uint64_t bank = 1072693184;
  EXPECT_EQ(world.figures(1).space(Space::kDram).largest_free, bank);
  world.buffer(one, Space::kDram, 1048640, 4096, 4096);
  world.buffer(both, Space::kDram, 1048640 + 1000000, 4096, 4096);
  EXPECT_EQ(world.figures(1).space(Space::kDram).largest_free, bank - 1004096);
  EXPECT_EQ(world.figures(2).space(Space::kDram).largest_free, bank - 1004096);
  world.buffer(one, Space::kDram, 1048640 + 500000000, 4096, 4096);
  EXPECT_EQ(world.figures(1).space(Space::kDram).largest_free, bank - 500004096);
  EXPECT_EQ(world.figures(1).space(Space::kDram).capacity, bank * 12);
}

TEST(Buffers, ADeviceThatWasOpenedAgainHasOnlyTheSpacesItHasNow) {
  World world;
  const SetIndex set = world.set({1});
  AllocatorRecord before = wormhole_allocator(set, 64, 32768);
  before.open = false;
  world.ledger.set_allocator(1, before);
  EXPECT_EQ(world.figures().space(Space::kL1Small).capacity, 64u * 32768);
  world.ledger.set_allocator(2, wormhole_allocator(set, 64));
  EXPECT_EQ(world.figures().space(Space::kL1Small).capacity, std::nullopt);
  EXPECT_EQ(world.figures().l1_capacity, world.figures().space(Space::kL1).capacity);
}

TEST(Buffers, ScatterWhatIsFree) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  world.buffer(allocator, Space::kL1, kL1Bytes - 4096, 4096, 4096);
  world.buffer(allocator, Space::kL1, 798304, 4096, 4096);
  const DeviceFigures figures = world.figures();
  const SpaceFigures& l1 = figures.space(Space::kL1);
  EXPECT_EQ(l1.capacity, 89182208u);
  EXPECT_EQ((*l1.capacity - *l1.taken) / 64, 1385280u);
  EXPECT_EQ(l1.largest_free, 692640u);
}

TEST(Buffers, PerCoreOnesTakeOnlyTheirCores) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}), 0, true);
  BufferRecord buffer;
  buffer.allocator = allocator;
  buffer.set = 1;
  buffer.space = Space::kL1;
  buffer.per_core = true;
  buffer.block = 4096;
  buffer.requested = 8192;
  buffer.cores = world.cores({2, 1, 3, 1});
  buffer.core_addresses = 900;
  world.ledger.set_addresses(900, {1400000, 1300000});
  world.apply(buffer);
  EXPECT_EQ(bytes(world, Space::kL1), (Bytes{8192, 8192, 8192}));
  // A lock-step buffer needs the same address in every bank: both ranges are in its way.
  EXPECT_EQ(world.figures().space(Space::kL1).largest_free, 1300000u - kProgramBase);
  EXPECT_EQ(world.check(), "");
  for (const CoreView& core : world.ledger.cores(1, true)) {
    if (core.role != Role::kWorker) continue;
    const bool here = core.core.y == 1 && (core.core.x == 2 || core.core.x == 3);
    EXPECT_EQ(core.buffers, here ? 4096u : 0u);
    const std::int64_t floor = !here ? kL1Bytes : core.core.x == 2 ? 1400000 : 1300000;
    EXPECT_EQ(core.headroom, floor - std::int64_t{kProgramBase});
  }
}

TEST(Buffers, EstimatesAreInNoTotal) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  BufferRecord guess;
  guess.allocator = allocator;
  guess.set = 1;
  guess.block = guess.requested = 1 << 20;
  guess.flags.estimated = true;
  world.apply(guess);
  EXPECT_EQ(bytes(world, Space::kDram), (Bytes{0, 0, 0}));
  EXPECT_EQ(world.figures().space(Space::kDram).count, 0u);
  EXPECT_EQ(world.holdings(), 1u);
}

TEST(Buffers, WithoutAKnownBlockOnlyTheRequestCounts) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  BufferRecord bare;
  bare.allocator = allocator;
  bare.set = 1;
  bare.requested = 26214400;
  bare.flags.requested_only = true;
  world.apply(bare);
  DeviceFigures figures = world.figures();
  EXPECT_EQ(figures.basis, Basis::kRequested);
  EXPECT_EQ(figures.space(Space::kDram).requested, 26214400u);
  EXPECT_EQ(figures.space(Space::kDram).taken, std::nullopt);
  EXPECT_EQ(figures.space(Space::kL1).taken, 0u);
  world.buffer(allocator, Space::kDram, 2000000, 4096, 4096);
  figures = world.figures();
  EXPECT_EQ(figures.basis, Basis::kMixed);
  EXPECT_EQ(figures.space(Space::kDram).requested, 26214400u + 4096u);
  EXPECT_EQ(figures.space(Space::kDram).taken, 4096u * 12);
  EXPECT_EQ(figures.space(Space::kDram).count, 2u);
  EXPECT_EQ(world.check(), "");
}

TEST(Buffers, OfHostMemoryAreNoDeviceMemory) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  world.buffer(allocator, Space::kSystemMemory, 0, 4096, 4096);
  const DeviceFigures figures = world.figures();
  EXPECT_EQ(figures.space(Space::kSystemMemory).requested, 4096u);
  EXPECT_EQ(figures.basis, Basis::kBlocks);
  EXPECT_EQ(figures.l1_used(), 0u);
  EXPECT_EQ(figures.space(Space::kDram).taken, 0u);
}

TEST(Buffers, ThatHoldBinariesAreAPartOfDram) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  world.buffer(allocator, Space::kDram, 2000000, 2048, 2048);
  BufferRecord binaries;
  binaries.allocator = allocator;
  binaries.set = 1;
  binaries.block = binaries.requested = 4096;
  binaries.address = 3000000;
  binaries.flags.kernel_binaries = true;
  world.apply(binaries);
  EXPECT_EQ(world.figures().kernels.in_dram, 4096u * 12);
  EXPECT_EQ(world.figures().space(Space::kDram).taken, (4096u + 2048u) * 12);
}

TEST(Buffers, CountersGiveThePeakAndNeverLessThanNow) {
  World world;
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  world.buffer(allocator, Space::kDram, 2000000, 2048, 2048);
  EXPECT_EQ(world.figures().space(Space::kDram).peak, 24576u);
  DeviceCounters counters;
  counters.peak[0] = 1 << 20;
  world.ledger.set_counters(1, counters);
  EXPECT_EQ(world.figures().space(Space::kDram).peak, 1u << 20);
}

}  // namespace
}  // namespace ttmem::ledger
