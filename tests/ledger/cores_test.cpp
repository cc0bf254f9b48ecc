// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One core's L1 from bottom to top: every byte has one owner, for every role.
#include <algorithm>

#include <gtest/gtest.h>

#include "ledger/check_sums.hpp"
#include "ledger/core_grid.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

CoreView find(const std::vector<CoreView>& cores, const Core& core) {
  return *std::find_if(cores.begin(), cores.end(),
                       [&](const CoreView& view) { return view.core == core; });
}

std::vector<std::string> names(const CoreView& core) {
  std::vector<std::string> result;
  for (const CoreStretch& stretch : core.map) {
    if (!stretch.name.empty()) result.push_back(stretch.name);
  }
  return result;
}

TEST(Cores, OfAWorkerAddUpAndNameWhatIsThere) {
  World world;
  const SetIndex set = world.set({1});
  const AllocatorIndex allocator = world.allocator(set, 32768);
  const CoreRange all = {0, 0, 7, 7};
  BufferRecord buffer;
  buffer.id = 5;
  buffer.allocator = allocator;
  buffer.set = set;
  buffer.space = Space::kL1;
  buffer.address = 1400000;
  buffer.block = 66368;  // up to the L1_SMALL region
  buffer.operation = world.string("ttnn.matmul");
  world.apply(buffer);
  world.buffer(allocator, Space::kL1Small, kL1Bytes - 64, 64, 64, world.cores(all));
  world.program(1, set,
                {{kProgramBase, 1000, all},
                 {kProgramBase + 1024, 2000, all},
                 {kProgramBase + 4096, 16, all, Part::kScratchpad},
                 {1400000, 66368, all, Part::kView, 5}});
  world.dispatch(1);

  const CoreView core = find(world.ledger.cores(1, true), {CoreType::kTensix, 0, 0});
  EXPECT_EQ(core.fixed, kRingBase);
  EXPECT_EQ(core.ring, kRingBytes);
  EXPECT_EQ(core.program_l1, 3016u);
  EXPECT_EQ(core.gaps, 24u + 1072u);
  EXPECT_EQ(core.buffers, 66368u);
  EXPECT_EQ(core.buffers_occupied, 66368u);
  EXPECT_EQ(core.l1_small, 32768u);
  EXPECT_EQ(core.l1_small_taken, 64u);
  EXPECT_EQ(core.free, 1400000u - kProgramBase - 4112u);
  EXPECT_EQ(core.headroom, static_cast<std::int64_t>(core.free));
  EXPECT_EQ(names(core),
            (std::vector<std::string>{"CB 0 of program 0x1", "CB 1 of program 0x1",
                                      "scratchpad of program 0x1",
                                      "ttnn.matmul, seen as view 3 of program 0x1", "buffer 0x2"}));
  EXPECT_EQ(world.check(), "");
}

TEST(Cores, HaveTheGeometryOfTheirRole) {
  World world;
  const auto cores = world.ledger.cores(1, true);
  ASSERT_EQ(cores.size(), 64u + 2u + 16u);
  const CoreView dispatch = find(cores, {CoreType::kTensix, 0, 8});
  EXPECT_EQ(dispatch.role, Role::kDispatch);
  EXPECT_EQ(dispatch.free, 0u);
  EXPECT_EQ(dispatch.fixed + dispatch.ring, kL1Bytes);
  EXPECT_EQ(names(dispatch), std::vector<std::string>{"command queues"});
  const CoreView eth = find(cores, {CoreType::kActiveEth, 3, 0});
  EXPECT_EQ(eth.l1_bytes, 262144u);
  EXPECT_EQ(eth.fixed, 36864u);
  EXPECT_EQ(eth.ring, 640u);
  EXPECT_EQ(eth.gaps, 98304u - 36864u);
  EXPECT_EQ(eth.free, 262144u - 98304u - 640u);
  EXPECT_EQ(eth.headroom, std::nullopt);
  EXPECT_EQ(world.check(), "");
}

TEST(Cores, ThatAreHarvestedHaveNoL1) {
  World world;
  DeviceRecord device = wormhole(0, 0);
  device.cores[5].role = Role::kHarvested;
  world.ledger.set_device(1, device);
  EXPECT_EQ(world.ledger.cores(1, false).size(), 81u);
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 4096, {5, 0, 6, 0}}});  // one of the two is harvested
  world.dispatch(1);
  EXPECT_EQ(world.resident(), 4096u);
  EXPECT_EQ(world.reserved(), 4096u);
  EXPECT_EQ(world.check(false), "");
}

TEST(Cores, AHarvestedOneDoesNotHideAWorkerOfTheSamePlace) {
  World world;
  DeviceRecord device = wormhole(0, 0);
  CoreRecord harvested = device.cores[5];
  harvested.role = Role::kHarvested;
  device.cores.insert(device.cores.begin(), harvested);
  world.ledger.set_device(1, device);
  EXPECT_EQ(world.ledger.cores(1, false).size(), 82u);
}

TEST(Cores, AreTakenFromTheGridIfNoListIsKnown) {
  World world;
  DeviceRecord device = wormhole(0, 0);
  device.cores.clear();
  world.ledger.set_device(1, device);
  EXPECT_EQ(world.ledger.cores(1, false).size(), 64u);
  device.grid_x = device.grid_y = 0;
  world.ledger.set_device(1, device);
  EXPECT_TRUE(world.ledger.cores(1, false).empty());
  const SetIndex set = world.set({1});
  world.program(1, set, {{kProgramBase, 4096, {0, 0, 1, 0}}});
  world.dispatch(1);
  EXPECT_EQ(world.figures().program_l1.resident, std::nullopt);  // not known is not 0
  EXPECT_EQ(world.figures().program_l1.reserved, std::nullopt);
  EXPECT_EQ(world.figures().l1_used(), std::nullopt);
  EXPECT_EQ(world.allocated(), 8192u);
}

TEST(Cores, OnlyBanksCarryBuffers) {
  World world;
  const SetIndex set = world.set({1});
  AllocatorRecord allocator = wormhole_allocator(set, 2);
  allocator.spaces[1].bank_cores = {{CoreType::kTensix, 3, 3}, {CoreType::kTensix, 1, 0}};
  world.ledger.set_allocator(1, allocator);
  world.buffer(1, Space::kL1, 1400000, 4096, 8192);
  for (const CoreView& core : world.ledger.cores(1, false)) {
    const bool bank =
        core.core == Core{CoreType::kTensix, 3, 3} || core.core == Core{CoreType::kTensix, 1, 0};
    EXPECT_EQ(core.buffers, bank ? 4096u : 0u);
  }
  EXPECT_EQ(world.figures().space(Space::kL1).taken, 8192u);
  EXPECT_EQ(world.check(), "");
}

TEST(Cores, InAMaskBecomeFewRectangles) {
  World world(1, 4, 4);
  const CoreGrids grids(world.ledger.catalog());
  const CoreGrid& grid = *grids.of(1);
  CoreMask mask = grid.empty_mask();
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const Core& core = grid.cores()[i].core;
    if (core.y < 2 || (core.y == 3 && core.x != 1)) set_bit(mask, i);
  }
  const CoreSet set = cores_in(grid, mask, CoreType::kTensix);
  EXPECT_EQ(set.count, 11u);
  EXPECT_EQ(to_string(set), "0,0-3,1 0,3 2,3-3,3");
  EXPECT_EQ(cores_in(grid, grid.empty_mask(), CoreType::kTensix).count, 0u);
}

TEST(Cores, OfTwoProcessesAreOnePicture) {
  World first, second;
  first.allocator(first.set({1}));
  second.allocator(second.set({1}));
  first.program(1, 1, {{kProgramBase, 1000, {0, 0, 0, 0}}});
  first.dispatch(1);
  first.buffer(1, Space::kL1, 1400000, 4096, 4096);
  second.buffer(1, Space::kL1, 1300000, 4096, 4096);
  second.buffer(1, Space::kL1, 1402000, 4096, 4096);  // where the other already is
  std::vector<ProcessInput> inputs = {first.input(1), second.input(2)};
  PeakMemory peaks;
  const Snapshot snapshot = assemble(inputs, peaks);
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(check_everything(inputs, snapshot, true), "");
  const CoreView core =
      find(merge_cores(inputs, snapshot, snapshot.devices[0], true), {CoreType::kTensix, 0, 0});
  EXPECT_EQ(core.program_l1, 1000u);
  EXPECT_EQ(core.buffers, 4096u + 4096u + 2000u);
  std::vector<std::int32_t> owners;
  for (const CoreStretch& stretch : core.map) {
    if (stretch.kind == Stretch::kBuffer) owners.push_back(stretch.owner->pid);
  }
  EXPECT_EQ(owners, (std::vector<std::int32_t>{2, 1, 2}));
  const auto only = merge_cores(inputs, snapshot, snapshot.devices[0], true, core.core);
  ASSERT_EQ(only.size(), 1u);
  EXPECT_EQ(only[0].map.size(), core.map.size());
  inputs[1].identity.alive = false;
  const CoreView alone =
      find(merge_cores(inputs, snapshot, snapshot.devices[0], false), {CoreType::kTensix, 0, 0});
  EXPECT_EQ(alone.buffers, 4096u);
}

}  // namespace
}  // namespace ttmem::ledger
