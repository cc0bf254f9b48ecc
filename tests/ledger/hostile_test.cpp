// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Records that come in any order, name things that are not there, or hold absurd numbers.
#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "ledger/catalog.hpp"
#include "ledger/check_sums.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::uint64_t kLargest = ~0ull;

// Everything that matters of a ledger, as text, so that two can be compared.
std::string told(const ProcessLedger& ledger) {
  std::string text;
  const auto tell = [&text](const auto&... values) {
    ((text += std::to_string(values) + " "), ...);
    text += "\n";
  };
  for (const DeviceIndex device : ledger.devices()) {
    const DeviceFigures f = ledger.figures(device);
    for_each_figure([&](const FigureGroup&, const FigureRow&,
                        const Figure& figure) { tell(figure.value_or(kLargest)); },
                    f);
    tell(f.headroom.min.value_or(-1), f.headroom.min_reserved.value_or(-1));
    for (const CoreView& core : ledger.cores(device, true)) {
      tell(core.program_l1, core.gaps, core.free, core.buffers, core.reserved,
           core.kernel_footprint);
      for (const CoreStretch& stretch : core.map) text += stretch.name + "|";
    }
  }
  std::size_t holdings = 0;
  ledger.for_each_holding([&holdings](const HoldingView&) { ++holdings; });
  tell(ledger.dangling(), holdings);
  return text;
}

using Step = std::function<void(ProcessLedger&)>;

// A whole process, as steps that may come in any order.
std::vector<Step> a_process() {
  std::vector<Step> steps;
  for (DeviceIndex i = 1; i <= 3; ++i) {
    steps.push_back([i](ProcessLedger& l) { l.set_device(i, wormhole(i, i, 4, 4)); });
    steps.push_back([i](ProcessLedger& l) { l.set_counters(i, {}); });
  }
  steps.push_back([](ProcessLedger& l) { l.set_device_set(1, {{1, 2, 3}, 1, 3, 0}); });
  steps.push_back([](ProcessLedger& l) { l.set_device_set(2, {{2, 3}, 1, 2, 1}); });
  for (SetIndex set = 1; set <= 2; ++set) {
    steps.push_back(
        [set](ProcessLedger& l) { l.set_allocator(set, wormhole_allocator(set, 16, 4096)); });
  }
  for (CoresId id = 1; id <= 4; ++id) {
    const auto end = static_cast<std::uint8_t>(id - 1);
    steps.push_back([id, end](ProcessLedger& l) {
      l.set_cores(id, {CoreType::kTensix, {{0, 0, end, 3}}, {}, 0});
    });
  }
  steps.push_back([](ProcessLedger& l) { l.set_string(1, "matmul"); });
  steps.push_back([](ProcessLedger& l) { l.set_members(1, {{1, 1}, {2, 2}}); });
  SlotIndex slot = 0;
  const auto put = [&](const Record& record) {
    steps.push_back([slot, record](ProcessLedger& l) { l.apply(slot, record); });
    ++slot;
  };
  for (std::uint64_t i = 0; i < 12; ++i) {
    BufferRecord buffer;
    buffer.id = i;
    buffer.allocator = buffer.set = static_cast<SetIndex>(1 + i % 2);
    buffer.space = i % 3 == 0 ? Space::kDram : Space::kL1;
    buffer.address = buffer.space == Space::kL1 ? 1400000 - 5000 * i : 2000000 + 5000 * i;
    buffer.block = buffer.requested = 1000 + i;
    buffer.cores = buffer.space == Space::kL1 ? static_cast<CoresId>(i % 5) : 0;
    put(buffer);
  }
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const auto set = static_cast<SetIndex>(1 + (id + 1) % 2);
    ProgramRecord program;
    program.id = program.workload = id;
    program.set = set;
    program.loaded = id != 3;
    program.held = id == 2;
    program.name = 1;
    put(program);
    WorkloadRecord workload;
    workload.id = id;
    workload.set = set;
    workload.launches = {id, program.loaded ? 100 - id : 0, 5, 9};
    put(workload);
    for (CoresId cores = 1; cores <= 4; ++cores) {
      KernelRecord kernel;
      kernel.program = id;
      kernel.hash = cores % 2;
      kernel.packed_bytes = 1000;
      kernel.cores = cores;
      put(kernel);
      RangeRecord range;
      range.program = id;
      range.set = set;
      range.address = kProgramBase + cores * 4096 * id;
      range.size = 4000;
      range.index = cores;
      range.cores = cores;
      put(range);
    }
  }
  TraceRecord trace;
  trace.id = 1;
  trace.set = 1;
  trace.members = 1;
  trace.launches = {3, 98, 1, 2};
  put(trace);
  return steps;
}

TEST(AnyOrder, GivesTheSameFigures) {
  std::vector<Step> steps = a_process();
  ProcessLedger in_order;
  for (const Step& step : steps) step(in_order);
  const std::string expected = told(in_order);
  EXPECT_EQ(in_order.dangling(), 0u);
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 100; ++round) {
    std::shuffle(steps.begin(), steps.end(), random);
    ProcessLedger ledger;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i](ledger);
      if (i % 17 == 0) told(ledger);  // questions in between change nothing
    }
    ASSERT_EQ(told(ledger), expected) << "seed " << kSeed << ", round " << round;
  }
}

TEST(AnyOrder, LateReadersEqualEarlyReaders) {
  std::vector<Step> steps = a_process();
  ProcessLedger early, late;
  for (const Step& step : steps) {
    step(early);
    told(early);
  }
  // The early one also saw things that have gone.
  for (SlotIndex slot = 500; slot < 600; ++slot) {
    BufferRecord buffer;
    buffer.allocator = buffer.set = 1;
    buffer.block = slot;
    buffer.address = slot * 100000ull;
    early.apply(slot, buffer);
    ProgramRecord program;
    program.id = slot;
    program.set = 1;
    early.apply(slot + 200, program);
  }
  told(early);
  for (SlotIndex slot = 500; slot < 800; ++slot) early.apply(slot, std::monostate());
  for (const Step& step : steps) step(late);
  EXPECT_EQ(told(early), told(late));
}

TEST(Hostile, DanglingRecordsAreCountedAndTouchNoTotal) {
  World world;
  const SetIndex set = world.set({1});
  BufferRecord buffer;
  buffer.block = buffer.requested = 4096;
  buffer.set = 99;
  world.apply(buffer);  // no such set
  buffer.set = set;
  buffer.allocator = 7;
  world.apply(buffer);  // no such allocator
  buffer.allocator = world.allocator(set);
  buffer.cores = 1234;
  world.apply(buffer);  // no such cores
  buffer.cores = 0;
  buffer.space = static_cast<Space>(6);
  world.apply(buffer);  // no such space
  EXPECT_EQ(world.ledger.dangling(), 4u);
  EXPECT_EQ(world.figures().space(Space::kDram).taken, 0u);
  KernelRecord kernel;
  kernel.program = 42;
  world.apply(kernel);  // no such program
  RangeRecord range;
  range.program = 42;
  world.apply(range);
  TraceRecord trace;
  trace.members = 77;
  world.apply(trace);
  ProgramRecord program;
  program.id = 5;
  program.set = 98;
  world.apply(program);
  EXPECT_EQ(world.ledger.dangling(), 8u);
  world.ledger.apply(0xFFFFFFFF, program);  // beyond every table
  EXPECT_EQ(world.ledger.dangling(), 9u);
  EXPECT_EQ(world.check(), "");
}

TEST(Hostile, AbsurdSizesSaturate) {
  World world;
  const SetIndex set = world.set({1});
  const AllocatorIndex allocator = world.allocator(set, 4096);
  std::vector<SlotIndex> slots;
  for (int i = 0; i < 5; ++i) {
    for (const Space space : {Space::kDram, Space::kL1, Space::kL1Small, Space::kTrace}) {
      slots.push_back(world.buffer(allocator, space, kLargest - 5, kLargest, kLargest));
    }
  }
  world.program(1, set, {{kLargest - 1, kLargest, {0, 0, 255, 255}}, {0, kLargest, {0, 0, 7, 7}}},
                {{0xFFFFFFFF, {0, 0, 255, 255}}});
  world.dispatch(1);
  const DeviceFigures figures = world.figures();
  EXPECT_EQ(figures.space(Space::kDram).taken, kLargest);
  EXPECT_EQ(figures.space(Space::kL1).requested, kLargest);
  EXPECT_EQ(figures.program_l1.allocated, kLargest);
  EXPECT_EQ(figures.l1_used(), kLargest);
  EXPECT_EQ(world.check(false), "");
  for (const SlotIndex slot : slots) world.clear(slot);
  EXPECT_EQ(world.figures().space(Space::kDram).taken, 0u);
  EXPECT_EQ(world.figures().space(Space::kL1).taken, 0u);
  world.drop(1);
  EXPECT_EQ(world.allocated(), 0u);
  EXPECT_EQ(world.check(), "");
}

TEST(Hostile, AnImpossibleGeometryStillAddsUp) {
  World world;
  DeviceRecord device = wormhole(0, 0);
  device.geometry[0] = {1000, 5000, 900, 0xFFFFFFFF, 0xFFFFFFFF};
  device.cores.insert(device.cores.end(), device.cores.begin(), device.cores.end());
  world.ledger.set_device(1, device);
  const SetIndex set = world.set({1, 1, 55});
  world.allocator(set, 32768);
  world.buffer(1, Space::kL1, 500, 100, 100);
  world.program(1, set, {{100, 2000, {0, 0, 7, 7}}});
  world.dispatch(1);
  EXPECT_EQ(world.figures().space(Space::kL1).taken, 6400u);  // the device is in the set once
  EXPECT_EQ(world.resident(), 64u * 400);
  EXPECT_EQ(world.ledger.cores(1, true).size(), 82u);
  EXPECT_EQ(world.check(false), "");
}

TEST(Hostile, OneSlotMayHoldAnythingInTurn) {
  World world;
  const SetIndex set = world.set({1});
  const AllocatorIndex allocator = world.allocator(set);
  BufferRecord buffer;
  buffer.allocator = allocator;
  buffer.set = set;
  buffer.block = 100;
  ProgramRecord program;
  program.id = 3;
  program.set = set;
  RangeRecord range;
  range.program = 3;
  range.set = set;
  range.size = 10;
  range.cores = world.cores({0, 0, 0, 0});
  world.ledger.apply(200, range);
  for (int i = 0; i < 3; ++i) {
    world.ledger.apply(100, buffer);
    EXPECT_EQ(world.figures().space(Space::kDram).taken, 1200u);
    EXPECT_EQ(world.reserved(), 0u);
    world.ledger.apply(100, program);
    EXPECT_EQ(world.figures().space(Space::kDram).taken, 0u);
    EXPECT_EQ(world.reserved(), 10u);
    world.ledger.apply(100, WorkloadRecord{});
    EXPECT_EQ(world.reserved(), 0u);
  }
  EXPECT_EQ(world.holdings(), 0u);  // a range alone is nothing
  EXPECT_EQ(world.ledger.dangling(), 1u);
}

TEST(Hostile, TextsAreCutAtAWholeCharacter) {
  ProcessLedger ledger;
  std::string text(kMostTextBytes - 1, 'x');
  for (int i = 0; i < 30'000; ++i) text += "ä";
  ledger.set_string(1, text);
  EXPECT_EQ(ledger.string(1), std::string(kMostTextBytes - 1, 'x') + "…");
  ledger.set_string(2, std::string(kMostTextBytes, 'x'));
  EXPECT_EQ(ledger.string(2).size(), kMostTextBytes);
}

// Each level would tell all levels above it again.
TEST(Hostile, NoStackIsDeeperThanAWriterMakesThem) {
  ProcessLedger ledger;
  ledger.set_string(1, std::string(60'000, 'r'));
  for (OriginId id = 1; id <= 20'000; ++id) {
    ledger.set_origin(id, {.kind = OriginKind::kRegion, .parent = id - 1, .name = 1});
  }
  EXPECT_LE(ledger.catalog().stack_of(20'000)->size(), 256u);
  EXPECT_LE(ledger.catalog().regions_of(20'000).size(), 3 * kMostTextBytes);
}

}  // namespace
}  // namespace ttmem::ledger
