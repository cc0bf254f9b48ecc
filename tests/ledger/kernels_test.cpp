// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Kernels: footprint by type, launches, code that is there once, and the rings.
#include <gtest/gtest.h>

#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr CoreRange kEth = {0, 0, 15, 0};        // 16 ethernet cores
constexpr CoreRange kDispatch = {0, 10, 1, 10};  // 2 dispatch cores below 8 x 10 workers
constexpr CoreRange kAll = {0, 0, 7, 9};         // 80 workers

KernelTypeFigures type(const World& world, KernelType which) {
  return world.figures().kernels.by_type[static_cast<std::size_t>(which)];
}

// What happens when a device opens, counted by core.
TEST(Kernels, FootprintIsBytesTimesTheirOwnCores) {
  World world(1, 8, 10);
  const SetIndex set = world.set({1});
  world.program(1, set, {}, {{57344, kEth, CoreType::kActiveEth}}, KernelType::kFabric);
  world.program(2, set, {}, {{47104, kDispatch}}, KernelType::kDispatch);
  world.program(3, set, {}, {{102400, kAll}});
  EXPECT_EQ(world.figures().kernels.registered, 3u);
  EXPECT_EQ(world.figures().kernels.total().footprint, 0u);
  world.dispatch(1);
  EXPECT_EQ(type(world, KernelType::kFabric).footprint, 917504u);
  world.dispatch(2);
  EXPECT_EQ(type(world, KernelType::kDispatch).footprint, 94208u);
  EXPECT_EQ(world.figures().kernels.system().footprint, 1011712u);
  EXPECT_EQ(world.figures().kernels.system().footprint.value() / 1024, 988u);
  world.dispatch(3);
  EXPECT_EQ(type(world, KernelType::kApplication).footprint, 8192000u);
  EXPECT_EQ(world.figures().kernels.total().count, 3u);
  world.dispatch(3);  // a second launch adds no byte
  EXPECT_EQ(type(world, KernelType::kApplication).footprint, 8192000u);
  EXPECT_EQ(type(world, KernelType::kApplication).programs, 1u);
  const KernelFigures kernels = world.figures().kernels;
  EXPECT_EQ(kernels.registered, 0u);
  EXPECT_EQ(kernels.by_core_type[static_cast<std::size_t>(CoreType::kActiveEth)], 917504u);
  EXPECT_EQ(kernels.by_core_type[static_cast<std::size_t>(CoreType::kTensix)], 8286208u);
  EXPECT_EQ(world.check(), "");
  world.drop(3);
  EXPECT_EQ(world.figures().kernels.total().footprint, 1011712u);
}

// Four loads of one core each, as the original's first form counted them.
TEST(Kernels, RunningTotalsOfTheOriginal) {
  World world(1, 8, 10);
  const SetIndex set = world.set({1});
  const CoreRange one = {0, 0, 0, 0};
  const std::uint64_t totals[] = {57344, 114688, 161792, 208896, 339968};
  const std::uint32_t sizes[] = {57344, 57344, 47104, 47104, 131072};
  const KernelType types[] = {KernelType::kFabric, KernelType::kFabric, KernelType::kDispatch,
                              KernelType::kDispatch, KernelType::kApplication};
  for (std::size_t i = 0; i < 5; ++i) {
    world.program(i + 1, set, {}, {{sizes[i], one}}, types[i]);
    world.dispatch(i + 1);
    EXPECT_EQ(world.figures().kernels.total().footprint, totals[i]);
  }
}

TEST(Kernels, PerCoreArithmetic) {
  World world(1, 8, 10);
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 2048 * 1024, {0, 0, 0, 0}}},
                {{51200, {0, 0, 7, 1}}, {102400, kAll}});
  world.dispatch(1);
  EXPECT_EQ(world.figures().kernels.total().footprint, 819200u + 8192000u);
  EXPECT_EQ(world.allocated(), 2097152u);
  EXPECT_EQ(world.figures().kernels.total().count, 2u);
}

TEST(Kernels, EqualCodeIsThereOnce) {
  World world(2);
  const SetIndex one = world.set({1}), both = world.set({1, 2});
  const CoreRange core = {0, 0, 0, 0};
  world.program(1, one, {}, {{1000, core, CoreType::kTensix, 0xAB}});
  world.program(2, one, {}, {{1000, core, CoreType::kTensix, 0xAB}});
  world.program(3, both, {},
                {{1000, core, CoreType::kTensix, 0xAB},
                 {500, core, CoreType::kTensix, 0xCD},
                 {70, core},
                 {70, core}});
  for (const std::uint64_t id : {1, 2, 3}) world.dispatch(id);
  EXPECT_EQ(world.figures(1).kernels.unique_bytes, 1000u + 500u + 140u);
  EXPECT_EQ(world.figures(2).kernels.unique_bytes, 1640u);
  EXPECT_EQ(world.figures(1).kernels.total().footprint, 3640u);
  world.drop(3);
  EXPECT_EQ(world.figures(1).kernels.unique_bytes, 1000u);
}

TEST(Kernels, LaunchesAreFirstLoadsReloadsOrCacheHits) {
  World world(2);
  const SetIndex both = world.set({1, 2}), one = world.set({1});
  world.program(1, both, {}, {{100, {0, 0, 0, 0}}});
  world.program(2, one, {}, {{100, {0, 0, 0, 0}}});
  world.trace(7, both, {{1, both}});
  world.dispatch(1);
  for (int i = 0; i < 5; ++i) world.dispatch(2);
  world.replay(7);
  world.replay(7);
  DeviceCounters counters;
  counters.first_loads = 3;
  counters.reloads = 1;
  counters.dispatches_released = 10;
  counters.captures = 4;
  counters.replays_released = 100;
  world.ledger.set_counters(1, counters);
  const KernelFigures first = world.figures(1).kernels;
  EXPECT_EQ(first.dispatches, 16u);
  EXPECT_EQ(first.cache_hits, 12u);
  EXPECT_EQ(first.first_loads, 3u);
  EXPECT_EQ(first.reloads, 1u);
  EXPECT_EQ(first.captures, 4u);
  EXPECT_EQ(first.replays, 102u);
  EXPECT_EQ(world.figures(2).kernels.dispatches, 1u);
  EXPECT_EQ(world.figures(2).kernels.replays, 2u);
}

TEST(Kernels, EachProgramTellsItsOwnHitsAndReloads) {
  World world;
  const SetIndex set = world.set({1});
  world.apply(WorkloadRecord{
      .id = 2, .set = set, .loads = 2, .reloads = 3, .launches = {.count = 9, .stamp = 9}});
  world.apply(KernelRecord{.program = 1, .packed_bytes = 100});
  world.apply(ProgramRecord{.id = 1, .workload = 2, .set = set, .loaded = true});
  const std::vector<ProgramView> programs = world.ledger.programs();
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].dispatches, 9u);
  EXPECT_EQ(programs[0].cache_hits, 4u);
  EXPECT_EQ(programs[0].reloads, 3u);
  int kernels = 0;
  world.ledger.for_each_holding([&kernels](const HoldingView& holding) {
    if (holding.kind != HoldingKind::kKernel) return;
    ++kernels;
    EXPECT_EQ(holding.cache_hits, 4u);
    EXPECT_EQ(holding.reloads, 3u);
  });
  EXPECT_EQ(kernels, 1);
}

TEST(Kernels, WithoutKnownCoresCountAsOne) {
  World world;
  const SetIndex set = world.set({1});
  world.program(1, set, {});
  world.dispatch(1);
  KernelRecord kernel;
  kernel.program = 1;
  kernel.packed_bytes = 57344;
  world.apply(kernel);
  EXPECT_EQ(world.figures().kernels.total().footprint, 57344u);
}

// The example of docs/figures.md.
TEST(SharedCode, IsWhatKernelsHaveInCommon) {
  World world;
  const SetIndex set = world.set({1});
  for (std::uint64_t id = 1; id <= 12; ++id) {
    world.program(id, set, {},
                  {{.packed = 4300, .cores = {0, 0, 7, 7}, .hash = 0xAB},
                   {.packed = 10000, .cores = {0, 0, 7, 7}, .hash = 0x100 + id}});
    world.dispatch(id);
  }
  const KernelFigures kernels = world.figures().kernels;
  EXPECT_EQ(kernels.code_bytes, 171'600u);
  EXPECT_EQ(kernels.unique_bytes, 124'300u);
  ASSERT_EQ(kernels.shared_code.size(), 1u);
  EXPECT_EQ(kernels.shared_code[0].bytes, 4300u);
  EXPECT_EQ(kernels.shared_code[0].kernels, 12u);
  EXPECT_EQ(kernels.shared_code[0].repeated(), 47'300u);
  std::uint64_t shared = 0;
  world.ledger.for_each_holding([&](const HoldingView& holding) {
    if (holding.kind != HoldingKind::kKernel) return;
    EXPECT_EQ(holding.code_users, holding.code == 0xAB ? 12u : 1u);
    shared += holding.code == 0xAB;
  });
  EXPECT_EQ(shared, 12u);
  for (std::uint64_t id = 2; id <= 12; ++id) world.drop(id);
  EXPECT_TRUE(world.figures().kernels.shared_code.empty());
  EXPECT_EQ(world.figures().kernels.code_bytes, 14'300u);
}

// Two readers of one moment need not have seen the same events before it.
TEST(SharedCode, HasOneNameInWhicheverOrderItCame) {
  World world;
  const SetIndex set = world.set({1});
  world.ledger.set_string(7, "softmax");
  world.ledger.set_string(8, "add");
  const auto load = [&](std::uint64_t id, StringId name) {
    world.program(id, set, {},
                  {{.packed = 4300, .cores = {0, 0, 7, 7}, .hash = 0xAB, .name = name}});
    world.dispatch(id);
  };
  const auto told = [&] { return world.figures().kernels.shared_code.at(0).name; };
  load(1, 8);
  load(2, 7);
  load(3, 7);
  EXPECT_EQ(told(), "add");
  world.drop(1);
  EXPECT_EQ(told(), "softmax") << "of a kernel that is there";
  load(4, 8);
  EXPECT_EQ(told(), "add");
}

TEST(SharedCode, CodeThatNobodyNamedIsNotTheSame) {
  World world;
  const SetIndex set = world.set({1});
  for (std::uint64_t id = 1; id <= 3; ++id) {
    world.program(id, set, {}, {{.packed = 4300, .cores = {0, 0, 0, 0}}});
    world.dispatch(id);
  }
  EXPECT_EQ(world.figures().kernels.unique_bytes, 3 * 4300u);
  EXPECT_TRUE(world.figures().kernels.shared_code.empty());
}

TEST(SystemKernels, AreInTheMapsOfTheirCores) {
  World world;
  const SetIndex set = world.set({1});
  world.program(1, set, {},
                {{.packed = 20000, .cores = {0, 0, 0, 0}, .core_type = CoreType::kActiveEth}},
                KernelType::kFabric);
  world.dispatch(1);
  world.program(2, set, {}, {{.packed = 5000, .cores = {0, 0, 7, 7}}});
  world.dispatch(2);
  std::size_t with_router = 0;
  for (const CoreView& core : world.ledger.cores(1, true)) {
    if (core.role == Role::kWorker) {
      EXPECT_TRUE(core.kernels.empty());
      continue;
    }
    if (core.kernels.empty()) continue;
    ++with_router;
    EXPECT_EQ(core.role, Role::kActiveEth);
    ASSERT_EQ(core.kernels.size(), 1u);
    EXPECT_EQ(core.kernels[0].type, KernelType::kFabric);
    EXPECT_EQ(core.kernels[0].bytes, 20000u);
    EXPECT_EQ(core.kernels[0].program, "program 0x1");
    EXPECT_EQ(core.kernel_footprint, 20000u);
  }
  EXPECT_EQ(with_router, 1u);
}

TEST(Rings, AreListedByManagerAndCoreType) {
  World world(2);
  RingManagerRecord manager;
  manager.set = world.set({1});
  manager.queue = 1;
  manager.sub_device = 2;
  manager.observed = true;
  manager.open = true;
  manager.evictions = 5;
  manager.reloads = 3;
  RingRecord tensix;
  tensix.base = kRingBase;
  tensix.bytes = kRingBytes;
  tensix.largest_bytes = 20000;
  tensix.high_water = 60000;
  tensix.slices = {{kRingBase, 20000, 1}, {kRingBase + 20000, 1600, 2}};
  RingRecord eth;
  eth.core_type = CoreType::kActiveEth;
  eth.base = 258336;
  eth.bytes = 640;
  manager.rings = {tensix, eth};
  world.ledger.set_ring_manager(0, manager);
  const DeviceFigures figures = world.figures(1);
  ASSERT_EQ(figures.rings.size(), 2u);
  EXPECT_EQ(figures.rings[0].used, 21600u);
  EXPECT_EQ(figures.rings[0].programs, 2u);
  EXPECT_EQ(figures.rings[0].capacity, kRingBytes);
  EXPECT_EQ(figures.rings[0].headroom(), 50656);
  EXPECT_EQ(figures.rings[0].queue, 1u);
  EXPECT_TRUE(figures.rings[0].observed);
  EXPECT_EQ(figures.rings[1].capacity, 640u);
  EXPECT_EQ(figures.rings[1].used, 0u);
  EXPECT_EQ(figures.kernels.evictions, 5u);
  EXPECT_TRUE(world.figures(2).rings.empty());
  const CoreView core = world.ledger.cores(1, true).front();
  EXPECT_EQ(core.ring, kRingBytes);
  EXPECT_EQ(world.check(), "");
}

}  // namespace
}  // namespace ttmem::ledger
