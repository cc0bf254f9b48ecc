// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From processes to devices: who is the same chip, what adds up, and what the dead still say.
#include <gtest/gtest.h>

#include "ledger/check_sums.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

void fill(World& world, std::uint64_t block) {
  const AllocatorIndex allocator = world.allocator(world.set({1}));
  world.buffer(allocator, Space::kDram, 2000000, block, block);
}

Snapshot snapshot_of(const std::vector<ProcessInput>& inputs) {
  PeakMemory peaks;
  Snapshot snapshot = assemble(inputs, peaks);
  EXPECT_EQ(check_everything(inputs, snapshot, true), "");
  return snapshot;
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> ids(const Snapshot& snapshot) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> result;
  for (const DeviceView& device : snapshot.devices)
    result.emplace_back(device.id, device.unique_id);
  return result;
}

TEST(Assemble, SumsRunOverTheLiving) {
  World a, b, dead;
  fill(a, 1000);
  fill(b, 200);
  fill(dead, 1 << 20);
  const Snapshot snapshot = snapshot_of({dead.input(1, false), b.input(3), a.input(2)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).taken, 1200u * 12);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).count, 2u);
  EXPECT_EQ(snapshot.devices[0].processes, 2u);
  ASSERT_EQ(snapshot.processes.size(), 3u);
  EXPECT_EQ(snapshot.processes[0].pid, 2);  // the living first, by pid
  EXPECT_EQ(snapshot.processes[1].pid, 3);
  EXPECT_EQ(snapshot.processes[2].pid, 1);
  const DeviceFigures& black_box = snapshot.processes[2].devices[0].figures;
  EXPECT_EQ(black_box.space(Space::kDram).taken, (12ull << 20));
}

TEST(Assemble, OfAProcessAPartIsNotToldAsTheWhole) {
  ProcessView process;
  const auto taken = [](const DeviceFigures& on) { return on.space(Space::kDram).taken; };
  EXPECT_EQ(over_devices(process, taken), 0u) << "no device, nothing held";
  process.devices.resize(2);
  process.devices[0].figures.space(Space::kDram).taken = kMost;
  EXPECT_EQ(over_devices(process, taken), std::nullopt);
  process.devices[1].figures.space(Space::kDram).taken = 1;
  EXPECT_EQ(over_devices(process, taken), kMost) << "too much to count is the most there is";
}

TEST(Assemble, ADeviceThatNobodyUsesShowsZero) {
  World dead;
  fill(dead, 4096);
  const Snapshot snapshot = snapshot_of({dead.input(1, false)});
  const DeviceFigures& figures = snapshot.devices[0].figures;
  EXPECT_EQ(figures.space(Space::kDram).taken, 0u);
  EXPECT_EQ(figures.space(Space::kDram).count, 0u);
  EXPECT_EQ(figures.l1_used(), 0u);
  EXPECT_EQ(figures.program_l1.resident, 0u);
  EXPECT_EQ(figures.kernels.dispatches, 0u);
  EXPECT_EQ(figures.space(Space::kDram).capacity, 12ull * 1072693184);
  EXPECT_EQ(snapshot.devices[0].processes, 0u);
}

TEST(Assemble, ChipsMergeByIdArchitectureAndMock) {
  World a, b, other_arch, real;
  DeviceRecord blackhole = wormhole(0, 0);
  blackhole.arch = Arch::kBlackhole;
  other_arch.ledger.set_device(1, blackhole);
  DeviceRecord chip = wormhole(0, 0);
  chip.mock = false;
  real.ledger.set_device(1, chip);
  const Snapshot snapshot =
      snapshot_of({a.input(1), b.input(2), other_arch.input(3), real.input(4)});
  ASSERT_EQ(snapshot.devices.size(), 3u);
  EXPECT_EQ(ids(snapshot),
            (std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 0}, {1, 0}, {2, 0}}));
}

TEST(Assemble, IdIsTheMetalIdUnlessTwoChipsClaimIt) {
  World a(2, 2, 2, 0), b(1, 2, 2, 100);
  DeviceRecord same_number = wormhole(100, 0, 2, 2);
  b.ledger.set_device(1, same_number);
  World c(1, 2, 2, 200);
  DeviceRecord unknown_number = wormhole(200, 0, 2, 2);
  unknown_number.metal_id.reset();
  c.ledger.set_device(1, unknown_number);
  const Snapshot snapshot = snapshot_of({c.input(3), b.input(2), a.input(1)});
  EXPECT_EQ(ids(snapshot), (std::vector<std::pair<std::uint32_t, std::uint64_t>>{
                               {0, 0}, {1, 1}, {2, 100}, {3, 200}}));
  EXPECT_EQ(snapshot.processes[1].devices[0].id, 2u);
  EXPECT_EQ(snapshot.processes[1].devices[0].metal_id, 0);
}

TEST(Assemble, PeakIsExactForOneProcessAndObservedForSeveral) {
  World a, b;
  fill(a, 1000);
  fill(b, 500);
  DeviceCounters counters;
  counters.peak[0] = 50000;
  a.ledger.set_counters(1, counters);
  PeakMemory peaks;
  Snapshot snapshot = assemble({a.input(1)}, peaks);
  EXPECT_EQ(snapshot.devices[0].figures.peak_basis, PeakBasis::kExact);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).peak, 50000u);
  const SlotIndex slot = b.buffer(1, Space::kDram, 4000000, 10000, 10000);
  snapshot = assemble({a.input(1), b.input(2)}, peaks);
  EXPECT_EQ(snapshot.devices[0].figures.peak_basis, PeakBasis::kObserved);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).peak, 11500u * 12);
  b.clear(slot);
  snapshot = assemble({a.input(1), b.input(2)}, peaks);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).taken, 1500u * 12);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).peak, 11500u * 12);
  EXPECT_EQ(check_sums(snapshot), "");
}

TEST(Assemble, TotalsFromOutsideAreRequestedBytes) {
  World tracked;
  fill(tracked, 1000);
  ProcessInput outside;
  outside.identity.pid = 9;
  outside.identity.key = 9;
  outside.identity.alive = true;
  OutsideTotals totals;
  totals.unique_id = 0;
  totals.requested[0] = 777;
  totals.program_l1_reserved = 4096;
  outside.outside = {totals};
  totals.unique_id = 55;  // a chip that nobody else knows
  outside.outside.push_back(totals);
  const Snapshot snapshot = snapshot_of({tracked.input(1), outside});
  ASSERT_EQ(snapshot.devices.size(), 2u);
  const DeviceFigures& mixed = snapshot.devices[0].figures;
  EXPECT_EQ(mixed.basis, Basis::kMixed);
  EXPECT_EQ(mixed.space(Space::kDram).requested, 1777u);
  EXPECT_EQ(mixed.space(Space::kDram).taken, 12000u);
  const DeviceFigures& only = snapshot.devices[1].figures;
  EXPECT_EQ(only.basis, Basis::kRequested);
  EXPECT_EQ(only.space(Space::kDram).requested, 777u);
  EXPECT_EQ(only.space(Space::kDram).taken, std::nullopt);
  EXPECT_EQ(only.space(Space::kL1).requested, std::nullopt);
  EXPECT_EQ(only.program_l1.reserved, 4096u);
  EXPECT_EQ(only.program_l1.resident, std::nullopt);
}

TEST(Assemble, RecordsThatReferToNothingAreTold) {
  World world;
  world.allocator(world.set({1}));
  EXPECT_EQ(snapshot_of({world.input()}).processes[0].tracking.dangling, 0u);
  world.apply(KernelRecord{.program = 42});
  const SlotIndex buffer = world.apply(BufferRecord{.block = 4096, .set = 99});
  EXPECT_EQ(snapshot_of({world.input()}).processes[0].tracking.dangling, 2u);
  world.clear(buffer);
  world.ledger.apply(0xFFFFFFFF, KernelRecord{});  // beyond every table, and so for good
  EXPECT_EQ(snapshot_of({world.input()}).processes[0].tracking.dangling, 2u);
}

TEST(Assemble, ATrackedProcessIsNotCountedAgainFromOutside) {
  World tracked;
  fill(tracked, 1000);
  ProcessInput input = tracked.input(1);
  OutsideTotals totals;
  totals.unique_id = 0;
  totals.requested[0] = 1000;
  input.outside = {totals};
  const Snapshot snapshot = snapshot_of({input});
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).requested, 1000u);
  EXPECT_EQ(snapshot.devices[0].figures.basis, Basis::kBlocks);
}

TEST(Assemble, AMeshOfFourOnEightChipsListsAllOfThem) {
  World world(8, 2, 2);
  world.allocator(world.set({1, 2, 3, 4}));
  const Snapshot snapshot = snapshot_of({world.input(1)});
  ASSERT_EQ(snapshot.processes[0].devices.size(), 8u);
  for (const ProcessDeviceView& device : snapshot.processes[0].devices) {
    EXPECT_TRUE(device.open);
    EXPECT_EQ(device.in_mesh, device.id < 4);
  }
}

TEST(Assemble, MeshesAreTheShapesOfOpenAllocatorsInTheNumbersOfTheDocument) {
  World other(1, 2, 2, 0), world(4, 2, 2, 100);
  for (SetIndex set = 41; set <= 44; ++set) {
    world.ledger.set_device_set(set, {{1, 2, 4, 3}, 2, 2, 0});
  }
  world.ledger.set_device_set(42, {{1, 2}, 0, 0, 0});  // a plain list
  world.ledger.set_device_set(43, {{1, 9}, 1, 2, 0});  // refers to a chip that is not there
  for (const SetIndex set : {SetIndex{41}, SetIndex{42}, SetIndex{43}}) world.allocator(set);
  const Snapshot snapshot = snapshot_of({other.input(1), world.input(2)});
  EXPECT_TRUE(snapshot.processes[0].meshes.empty());
  EXPECT_EQ(snapshot.processes[1].meshes, (std::vector<MeshView>{{2, 2, {100, 101, 103, 102}}}));
}

// Two processes with the same ids on one device: every thing belongs to its process.
TEST(Assemble, EqualIdsInTwoProcessesAreFourBuffers) {
  World first, second;
  const AllocatorIndex a = first.allocator(first.set({1}));
  const AllocatorIndex b = second.allocator(second.set({1}));
  const auto bare = [](AllocatorIndex allocator, Space space, std::uint64_t id,
                       std::uint64_t bytes) {
    BufferRecord buffer;
    buffer.id = id;
    buffer.allocator = allocator;
    buffer.set = 1;
    buffer.space = space;
    buffer.requested = bytes;
    buffer.flags.requested_only = true;
    return buffer;
  };
  first.apply(bare(a, Space::kL1, 1, 1048576));
  first.apply(bare(a, Space::kL1, 2, 1048576));
  first.apply(bare(a, Space::kDram, 5, 26214400));
  second.apply(bare(b, Space::kL1, 1, 2097152));
  const Snapshot snapshot = snapshot_of({first.input(12345), second.input(67890)});
  const DeviceFigures& figures = snapshot.devices[0].figures;
  EXPECT_EQ(figures.space(Space::kDram).requested, 26214400u);
  EXPECT_EQ(figures.space(Space::kL1).requested, 4194304u);
  EXPECT_EQ(*figures.space(Space::kDram).count + *figures.space(Space::kL1).count, 4u);
}

TEST(Details, CarryTheProcessTheDocumentsIdsAndWallTimes) {
  World world(2, 8, 8, 40);
  const SetIndex both = world.set({1, 2});
  const AllocatorIndex allocator = world.allocator(both);
  world.buffer(allocator, Space::kDram, 2000000, 1000, 900);
  world.program(3, both, {{kProgramBase, 64, {0, 0, 1, 1}}}, {{500, {0, 0, 1, 0}}});
  world.dispatch(3);
  world.dispatch(3);
  ProcessInput input = world.input(7);
  input.to_time = [](Ticks ticks) { return ticks * 1000000000; };
  PeakMemory peaks;
  const Snapshot snapshot = assemble({input}, peaks);
  std::vector<HoldingView> holdings;
  for_each_holding({input}, snapshot, [&](const HoldingView& view) { holdings.push_back(view); });
  ASSERT_EQ(holdings.size(), 4u);  // buffer, program, kernel, range
  for (const HoldingView& holding : holdings) {
    EXPECT_EQ(holding.process->pid, 7);
    EXPECT_EQ(holding.process->name, "python3");
    EXPECT_EQ(holding.devices, (std::vector<std::uint32_t>{40, 41}));
  }
  EXPECT_EQ(holdings[0].taken, 12000u);
  EXPECT_EQ(holdings[2].footprint, 1000u);
  EXPECT_EQ(holdings[2].core_set, "0,0-1,0");
  EXPECT_EQ(holdings[3].occupied, 256u);
  const auto programs = all_programs({input}, snapshot);
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].dispatches, 2u);
  EXPECT_EQ(programs[0].first_dispatch, 1000000000u);
  EXPECT_DOUBLE_EQ(programs[0].dispatches_per_second, 1.0);
  EXPECT_EQ(programs[0].cores, 4u);
  EXPECT_EQ(programs[0].l1_allocated, 256u);
}

TEST(Details, ProgramsOfTheDeadAreHoldingsAndNoLivePrograms) {
  World world;
  world.program(3, world.set({1}), {{kProgramBase, 64, {0, 0, 1, 1}}});
  const std::vector<ProcessInput> inputs = {world.input(7, false)};
  const Snapshot snapshot = snapshot_of(inputs);
  EXPECT_TRUE(all_programs(inputs, snapshot).empty());
  int held = 0;
  for_each_holding(inputs, snapshot, [&held](const HoldingView& holding) {
    held += holding.kind == HoldingKind::kProgram;
    EXPECT_FALSE(holding.process->alive);
  });
  EXPECT_EQ(held, 1);
}

}  // namespace
}  // namespace ttmem::ledger
