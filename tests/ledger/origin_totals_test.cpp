// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is held, by the code that it comes from: each byte once, on the devices that are asked for.
#include "ledger/origin_totals.hpp"

#include <gtest/gtest.h>

#include "ledger/check_sums.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

using Path = std::vector<std::string>;

// Two chips in a mesh; weights of layers.py:5 on both, an activation of model.py:12 on the first.
class OriginTotalsOfAModel : public testing::Test {
 protected:
  OriginTotalsOfAModel() : world(2) {
    ProcessLedger& ledger = world.ledger;
    ledger.set_frame(101, {.file = "model.py", .function = "main", .line = 12});
    ledger.set_frame(102, {.file = "layers.py", .function = "weight", .line = 5});
    ledger.set_origin(200, {.kind = OriginKind::kRegion, .name = world.string("model")});
    ledger.set_origin(201, {.kind = OriginKind::kFrame, .parent = 200, .frame = 101});
    ledger.set_origin(202, {.kind = OriginKind::kFrame, .parent = 201, .frame = 102});
    ledger.set_origin(
        203, {.kind = OriginKind::kOperation, .parent = 202, .name = world.string("ttnn.ones")});
    const SetIndex both = world.set({1, 2}), first = world.set({1});
    mesh = world.allocator(both);
    alone = world.allocator(first);
    buffer(mesh, 1, 1024, 203, 0);
    buffer(mesh, 2, 1024, 203, 0);
    buffer(alone, 3, 512, 201, world.string("BinaryDeviceOperation"));
    buffer(alone, 4, 32, 0, 0);
  }
  void buffer(AllocatorIndex allocator, std::uint64_t id, std::uint64_t block, OriginId origin,
              StringId followed) {
    BufferRecord record;
    record.id = id;
    record.allocator = allocator;
    record.address = (id + 1) << 20;  // above what the runtime keeps for itself
    record.block = record.requested = block;
    record.allocated = id * kMinute;
    record.origin = origin;
    record.operation = followed;
    world.apply(record);
  }
  std::vector<OriginTotal> totals(const OriginQuestion& question, bool alive = true) {
    const std::vector<ProcessInput> inputs = {world.input(7, alive)};
    PeakMemory peaks;
    Snapshot snapshot = assemble(inputs, peaks);
    snapshot.time = 4 * kMinute;
    EXPECT_EQ(check_everything(inputs, snapshot, true), "");
    return totals_by_origin(inputs, snapshot, question).rows;
  }
  static constexpr std::uint64_t kMinute = 60'000'000'000;
  World world;
  AllocatorIndex mesh = 0, alone = 0;
};

TEST_F(OriginTotalsOfAModel, ByLineTheLargestFirstAndWhatIsNotKnownToo) {
  const auto rows = totals({OriginBy::kLine, {}, {}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].path, Path{"layers.py:5 weight"});
  EXPECT_EQ(rows[0].space(Space::kDram).taken, 2u * 2 * 1024 * 12) << "two buffers on two chips";
  EXPECT_EQ(rows[0].space(Space::kDram).buffers, 4u);
  ASSERT_EQ(rows[0].processes.size(), 1u);
  EXPECT_EQ(rows[0].processes[0]->pid, 7);
  EXPECT_EQ(rows[1].path, Path{"model.py:12 main"});
  EXPECT_EQ(rows[2].path, Path{});
  EXPECT_EQ(rows[2].space(Space::kDram).taken, 32u * 12);
}

TEST_F(OriginTotalsOfAModel, OnOneDeviceOnlyWhatIsThere) {
  const auto rows = totals({OriginBy::kLine, 1, {}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].taken(), 2u * 1024 * 12);
}

TEST_F(OriginTotalsOfAModel, ByOperationTheLaunchThatFollowedNamesTheRest) {
  const auto rows = totals({OriginBy::kOperation, {}, {}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].path, Path{"ttnn.ones"});
  EXPECT_FALSE(rows[0].derived);
  EXPECT_EQ(rows[1].path, Path{"BinaryDeviceOperation"});
  EXPECT_TRUE(rows[1].derived) << "and says so";
  EXPECT_FALSE(totals({OriginBy::kLine, {}, {}})[1].derived) << "its line is not";
}

TEST_F(OriginTotalsOfAModel, ByFileRegionAndStack) {
  EXPECT_EQ(totals({OriginBy::kFile, {}, {}})[0].path, Path{"layers.py"});
  const auto regions = totals({OriginBy::kRegion, {}, {}});
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].path, Path{"model"});
  EXPECT_EQ(regions[0].taken(), (4u * 1024 + 512) * 12);
  EXPECT_EQ(totals({OriginBy::kStack, {}, {}})[0].path,
            (Path{"model", "model.py:12 main", "layers.py:5 weight", "ttnn.ones"}));
}

TEST_F(OriginTotalsOfAModel, RecentIsWhatCameInTheLastMinute) {
  const auto rows = totals({OriginBy::kLine, {}, {}});
  EXPECT_EQ(rows[0].space(Space::kDram).recent, 0u);
  EXPECT_EQ(rows[1].space(Space::kDram).recent, 512u * 12) << "a minute old to the nanosecond";
}

TEST_F(OriginTotalsOfAModel, TheDeadAreAskedByName) {
  EXPECT_TRUE(totals({OriginBy::kLine, {}, {}}, false).empty());
  EXPECT_EQ(totals({OriginBy::kLine, {}, [](const ProcessName&) { return true; }}, false).size(),
            3u);
}

TEST(OriginTotals, ProgramsCountWhereTheyComeFrom) {
  World world;
  const SetIndex set = world.set({1});
  world.allocator(set);
  world.program(5, set, {{.size = 2048, .cores = {0, 0, 3, 0}}},
                {{.packed = 100, .cores = {0, 0, 3, 0}}});
  world.dispatch(5);
  const std::vector<ProcessInput> inputs = {world.input(1)};
  PeakMemory peaks;
  const Snapshot snapshot = assemble(inputs, peaks);
  const auto rows = totals_by_origin(inputs, snapshot, {}).rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].program_l1, 4u * 2048);
  EXPECT_EQ(rows[0].kernels, 4u * 100);
  EXPECT_EQ(rows[0].programs, 1u);
}

TEST_F(OriginTotalsOfAModel, AtThePeakLiveOnesThatAreOlderAndWhatWasReleasedSince) {
  std::vector<ProcessInput> inputs = {world.input(7, true)};
  inputs[0].peaks = [] {
    PeakRecords records;
    records.peaks = {{{1}, {}}, {{2}, {}}};
    records.peaks[0].moments[0] = {3 * kMinute, 40000, 0};  // after the activation
    records.peaks[1].moments[0] = {1 * kMinute, 20000, 0};  // after the first weight
    records.released = {{0, Space::kDram, 201, 0, 1000, 2}, {1, Space::kDram, 999, 0, 10, 1}};
    return records;
  };
  PeakMemory memory;
  const Snapshot snapshot = assemble(inputs, memory);
  const OriginTotals totals = totals_by_origin(inputs, snapshot, {OriginBy::kLine, {}, {}});
  ASSERT_EQ(totals.rows.size(), 3u);
  EXPECT_EQ(totals.rows[0].space(Space::kDram).at_peak, 3u * 1024 * 12) << "one was younger";
  EXPECT_EQ(totals.rows[1].space(Space::kDram).at_peak, 512u * 12 + 1000);
  EXPECT_EQ(totals.rows[2].space(Space::kDram).at_peak, 10u) << "of an origin that nobody knows";
  ASSERT_EQ(totals.peaks.size(), 2u);
  EXPECT_EQ(totals.peaks[0].devices, std::vector<std::uint32_t>{0});
  EXPECT_EQ(totals.peaks[0].bytes, 40000u);
  EXPECT_EQ(totals.peaks[0].in_rows, 2u * 1024 * 12 + 512 * 12 + 1000);
  EXPECT_EQ(totals.peaks[1].in_rows, 1024u * 12 + 10);
}

TEST_F(OriginTotalsOfAModel, WithoutAShareOfAPeakThatIsToldInFullItIsZero) {
  std::vector<ProcessInput> inputs = {world.input(7, true)};
  std::uint64_t l1 = 1000;
  inputs[0].peaks = [&] {
    PeakRecords records;
    records.peaks = {{{1}, {}}};
    records.peaks[0].moments[static_cast<std::size_t>(Space::kL1)] = {3 * kMinute, l1, 0};
    records.released = {{0, Space::kL1, 201, 0, 1000, 2}};
    return records;
  };
  PeakMemory memory;
  const Snapshot snapshot = assemble(inputs, memory);
  const OriginQuestion question{OriginBy::kLine, {}, {}};
  const std::vector<OriginTotal> rows = totals_by_origin(inputs, snapshot, question).rows;
  EXPECT_EQ(rows[1].space(Space::kL1).at_peak, 1000u);
  EXPECT_EQ(rows[0].space(Space::kL1).at_peak, 0u);
  EXPECT_FALSE(rows[0].space(Space::kTrace).at_peak) << "no peak is known of it";
  l1 = 2000;
  const std::vector<OriginTotal> half = totals_by_origin(inputs, snapshot, question).rows;
  EXPECT_FALSE(half[0].space(Space::kL1).at_peak) << "the rest may have been its own";
}

}  // namespace
}  // namespace ttmem::ledger
