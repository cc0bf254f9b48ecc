// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What somebody only guesses, only counts or never tells: it is shown as what it is, and nothing of
// it turns into a figure that looks known.
#include <gtest/gtest.h>

#include "ledger/live_programs.hpp"
#include "ledger/nominal.hpp"
#include "ledger/world.hpp"
#include "ttmem/ttmem_words.h"

namespace ttmem::ledger {
namespace {

SlotIndex add_program(World& world, std::uint64_t id, SetIndex set, const Flags& flags) {
  ProgramRecord program;
  program.id = id;
  program.set = set;
  program.flags = flags;
  return world.apply(program);
}

void add_range(World& world, std::uint64_t program, SetIndex set, std::uint64_t size) {
  RangeRecord range;
  range.program = program;
  range.set = set;
  range.size = size;
  world.apply(range);
}

TEST(Untold, NobodyKnowsWhatIsResidentBeforeALaunchIsTold) {
  World world;
  const SetIndex set = world.set({1});
  add_range(world, 1, set, 4096);
  const SlotIndex slot = add_program(world, 1, set, {.launches_untold = true});
  EXPECT_EQ(world.figures().program_l1.resident, std::nullopt);
  EXPECT_EQ(world.figures().program_l1.allocated, 4096u);
  EXPECT_EQ(world.figures().l1_used(), std::nullopt);
  world.clear(slot);
  EXPECT_EQ(world.figures().program_l1.resident, 0u) << "nothing is registered any more";
}

TEST(Untold, ALaunchThatIsToldMakesItKnown) {
  World world;
  const SetIndex set = world.set({1});
  add_range(world, 1, set, 4096);
  ProgramRecord program;
  program.id = 1;
  program.set = set;
  program.flags.launches_untold = true;
  program.loaded = true;
  world.apply(program);
  EXPECT_EQ(world.figures().program_l1.resident, 0u);
}

ProgramView told(World& world) {
  const std::vector<ProcessInput> inputs = {world.input(7)};
  PeakMemory peaks;
  return all_programs(inputs, assemble(inputs, peaks)).at(0);
}

TEST(Untold, NoLaunchThatIsToldIsNoneOnlyOfWhoTellsThem) {
  for (const Flags& flags : {Flags{.launches_untold = true}, Flags{.estimated = true}}) {
    World world;
    add_program(world, 1, world.set({1}), flags);
    const ProgramView program = told(world);
    EXPECT_EQ(program.dispatches, std::nullopt);
    EXPECT_EQ(program.cache_hits, std::nullopt);
    EXPECT_EQ(program.reloads, std::nullopt);
    EXPECT_EQ(program.replays, std::nullopt);
  }
  World world;
  add_program(world, 1, world.set({1}), {});
  EXPECT_EQ(told(world).dispatches, 0u);
  EXPECT_EQ(told(world).replays, 0u);
}

TEST(Untold, OnlyCircularBuffersAndTheirViewsHaveAnIndex) {
  RangeRecord range;
  range.index = 3;
  EXPECT_EQ(index_of(range), 3u);
  range.part = Part::kView;
  EXPECT_EQ(index_of(range), 3u);
  range.part = Part::kDataflowBuffer;
  EXPECT_EQ(index_of(range), std::nullopt);
  range.part = Part::kCb;
  range.index = TTMEM_INDEX_UNKNOWN;
  EXPECT_EQ(index_of(range), std::nullopt);
}

TEST(Untold, OfRequestedBytesNobodyKnowsWhatIsResidentEither) {
  World world;
  const SetIndex set = world.set({1});
  add_range(world, 1, set, 4096);
  add_program(world, 1, set, {.requested_only = true});
  EXPECT_EQ(world.figures().program_l1.resident, std::nullopt);
}

TEST(Untold, GuessesAreFiguresOfTheirOwn) {
  World world;
  const SetIndex set = world.set({1});
  KernelRecord kernel;
  kernel.program = 7;
  kernel.packed_bytes = 51200;
  kernel.cores = world.cores({0, 0, 3, 3});
  const SlotIndex code = world.apply(kernel);
  const SlotIndex slot = add_program(world, 7, set, {.estimated = true});
  const KernelFigures kernels = world.figures().kernels;
  EXPECT_EQ(kernels.estimated, (KernelTypeFigures{1, 1, 16 * 51200}));
  EXPECT_EQ(kernels.total().footprint, 0u);
  EXPECT_EQ(kernels.registered, 0u);
  world.clear(slot);
  world.clear(code);
  EXPECT_EQ(world.figures().kernels.estimated, (KernelTypeFigures{0, 0, 0}));
}

// The kernel comes first, and is told with its program.
TEST(Untold, AKernelThatJoinsAGuessIsTold) {
  World world;
  ProgramRecord program;
  program.id = 7;
  program.set = world.set({1});
  program.flags.estimated = true;
  KernelRecord kernel;
  kernel.program = 7;
  kernel.packed_bytes = 51200;
  kernel.cores = world.cores({0, 0, 3, 3});
  EXPECT_EQ(world.ledger.apply_and_tell(100, kernel), std::nullopt);
  const auto first = world.ledger.apply_and_tell(101, program);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->estimated_before, 0u);
  EXPECT_EQ(first->estimated_after, 16u * 51200);
  world.ledger.apply_and_tell(102, kernel);
  const auto second = world.ledger.apply_and_tell(101, program);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->estimated_before, 16u * 51200);
  EXPECT_EQ(second->estimated_after, 2u * 16 * 51200);
  const auto last = world.ledger.apply_and_tell(101, std::monostate());
  ASSERT_TRUE(last);
  EXPECT_EQ(last->estimated_before, 2u * 16 * 51200);
  EXPECT_EQ(last->estimated_after, 0u);
}

TEST(Untold, CoresMayBeOnlyCounted) {
  World world;
  const SetIndex set = world.set({1});
  CoreSet sixteen;
  sixteen.type = CoreType::kActiveEth;
  sixteen.count = 16;
  world.ledger.set_cores(1000, sixteen);
  KernelRecord kernel;
  kernel.program = 15;
  kernel.packed_bytes = 57344;
  kernel.cores = 1000;
  kernel.core_type = CoreType::kActiveEth;
  world.apply(kernel);
  ProgramRecord program;
  program.id = 15;
  program.set = set;
  program.type = KernelType::kFabric;
  program.loaded = true;
  world.apply(program);
  EXPECT_EQ(world.figures().kernels.of(KernelType::kFabric).footprint, 917504u);
}

TEST(Nominal, ByBoardElseByArchitecture) {
  EXPECT_EQ(nominal_capacity("n300", Arch::kWormholeB0)->l1_bytes(), 64u * 1499136);
  EXPECT_EQ(nominal_capacity("n300", Arch::kUnknown)->dram_bytes, 12ull << 30);
  EXPECT_EQ(nominal_capacity("p100a", Arch::kBlackhole)->dram_channels, 7u);
  EXPECT_EQ(nominal_capacity("", Arch::kBlackhole)->tensix_cores, 140u);
  EXPECT_FALSE(nominal_capacity("", Arch::kUnknown));
  EXPECT_FALSE(nominal_capacity("x9000", Arch::kQuasar));
}

TEST(Nominal, OnlyWhileNoProcessToldBetter) {
  DeviceView device;
  device.board = "n150";
  ASSERT_TRUE(device.nominal());
  device.mock = true;
  EXPECT_FALSE(device.nominal()) << "there is no such board";
  device.mock = false;
  device.figures.space(Space::kDram).capacity = 1;
  EXPECT_FALSE(device.nominal());
}

}  // namespace
}  // namespace ttmem::ledger
