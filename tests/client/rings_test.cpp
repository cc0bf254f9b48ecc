// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/rings.hpp"

#include <thread>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

class RingsTest : public Recording {
 protected:
  RingsTest() {
    const ttmem_ring ring = {TTMEM_CORE_TENSIX, 35008, 70656};
    manager = recorder->rings.opened(set, 0, 0, &ring, 1, false);
  }
  segment::RingManager record() {
    return reader().record<segment::RingManager>(segment::kRingManagersOffset, manager);
  }
  void launch(ttmem_workload_t workload, std::uint32_t bytes) {
    recorder->rings.simulated(manager, workload, &bytes, 1, 64, false);
  }
  ttmem_ring_manager_t manager = 0;
};

TEST_F(RingsTest, TheStateIsInTheSegment) {
  const ttmem_workload_t a = recorder->workloads.created(7, set);
  launch(a, 20000);
  const auto seen = record();
  EXPECT_EQ(seen.version % 2, 0u);
  EXPECT_EQ(seen.rings[0].alloc_index, 1u);
  EXPECT_EQ(seen.rings[0].entries[0].address, 35008u);
  EXPECT_EQ(seen.rings[0].entries[0].workload, 7u);
  EXPECT_EQ(seen.expected, 64u);
  EXPECT_EQ(seen.reserves, 1u);
}

TEST_F(RingsTest, WhatIsOverwrittenIsEvictedAndLoadedAgain) {
  const ttmem_workload_t a = recorder->workloads.created(1, set);
  const ttmem_workload_t b = recorder->workloads.created(2, set);
  launch(a, 40000);
  launch(b, 40000);  // wraps over a
  EXPECT_EQ(record().evictions, 1u);
  EXPECT_EQ(record().reloads, 0u);
  launch(a, 40000);
  EXPECT_EQ(record().reloads, 1u);
  for (const Payload& workload : reader().live(Kind::kWorkload)) {
    EXPECT_EQ(Meta::block(workload.meta), workload.id == 1 ? 1u : 0u);
  }
  EXPECT_EQ(reader().counters().reloads[chips[0]], 1u);
}

TEST_F(RingsTest, WhatLiesInTheRingIsInTheSegment) {
  const ttmem_workload_t a = recorder->workloads.created(1, set);
  const ttmem_workload_t b = recorder->workloads.created(2, set);
  launch(a, 20000);
  launch(b, 20000);
  launch(a, 20000);  // its old slice counts no more
  segment::RingContents contents = record().contents[0];
  ASSERT_EQ(contents.count, 2u);
  EXPECT_EQ(contents.slices[0].workload, 2u);
  EXPECT_EQ(contents.slices[0].begin, 35008u + 20000);
  EXPECT_EQ(contents.slices[1].workload, 1u);
  EXPECT_EQ(contents.slices[1].begin, 35008u + 40000);
  EXPECT_EQ(contents.slices[1].end, 35008u + 60000);
  launch(a, 40000);  // wraps over b
  contents = record().contents[0];
  ASSERT_EQ(contents.count, 1u);
  EXPECT_EQ(contents.slices[0].begin, 35008u);
  recorder->rings.filled(manager, 64);
  contents = record().contents[0];
  ASSERT_EQ(contents.count, 1u);
  EXPECT_EQ(contents.slices[0].workload, segment::RingRules::kEverybody);
  EXPECT_EQ(contents.slices[0].end - contents.slices[0].begin, 70656u);
}

TEST_F(RingsTest, MoreSlicesThanAreRememberedGiveUpTheOldest) {
  for (std::uint64_t id = 1; id <= segment::kRingSlices + 6; ++id) {
    launch(recorder->workloads.created(id, set), 16);
  }
  const segment::RingContents contents = record().contents[0];
  ASSERT_EQ(contents.count, segment::kRingSlices);
  EXPECT_EQ(contents.slices[0].workload, 7u);
  EXPECT_EQ(contents.slices[segment::kRingSlices - 1].workload, segment::kRingSlices + 6);
  EXPECT_EQ(record().evictions, 6u);
}

TEST_F(RingsTest, WhatStillLiesThereIsNotAReload) {
  const ttmem_workload_t a = recorder->workloads.created(1, set);
  const ttmem_workload_t b = recorder->workloads.created(2, set);
  for (int i = 0; i < 3; ++i) {
    launch(a, 1000);
    launch(b, 1000);
  }
  EXPECT_EQ(record().reloads, 0u);
  EXPECT_EQ(record().evictions, 0u);
}

TEST_F(RingsTest, TheSliceOfAReleasedWorkloadIsNoEviction) {
  const ttmem_workload_t a = recorder->workloads.created(1, set);
  launch(a, 70000);
  recorder->workloads.released(a);
  launch(recorder->workloads.created(2, set), 70000);
  EXPECT_EQ(record().evictions, 0u);
}

TEST_F(RingsTest, AnObservedRingFollowsTheCalls) {
  const ttmem_workload_t a = recorder->workloads.created(1, set);
  recorder->rings.launched(manager, {.workload = a, .bytes = {5000}, .sync = 64});
  EXPECT_EQ(record().reserves, 1u);
  EXPECT_EQ(record().rings[0].entries[0].sync, 64u);
  const std::uint32_t beside = record().rings[0].base + 5000;
  recorder->rings.launched(
      manager, {.workload = a, .bytes = {700}, .has_freed = 1, .freed = 64, .sync = 128});
  EXPECT_EQ(record().rings[0].free_index, 1u) << "the first one is free";
  EXPECT_EQ(record().rings[0].entries[1].address, beside) << "it was in use when this was planned";
  EXPECT_EQ(record().rings[0].entries[1].sync, 128u);
  recorder->rings.freed(manager, 128);
  EXPECT_EQ(record().rings[0].free_index, record().rings[0].alloc_index);
}

TEST_F(RingsTest, ACaptureSavesAndRestores) {
  launch(recorder->workloads.created(1, set), 5000);
  const auto before = record();
  recorder->rings.saved(manager);
  recorder->rings.filled(manager, 64);
  EXPECT_EQ(record().rings[0].entries[0].workload, segment::RingRules::kEverybody);
  EXPECT_EQ(reader().notes(segment::Note::kRingFull), 1u);
  recorder->rings.restored(manager);
  const auto after = record();
  EXPECT_EQ(after.rings[0].alloc_index, before.rings[0].alloc_index);
  EXPECT_EQ(after.rings[0].entries[0].bytes, 5000u);
  recorder->rings.reset(manager);
  EXPECT_EQ(record().rings[0].alloc_index, 0u);
}

TEST_F(RingsTest, AClosedManagerIsNotKnown) {
  recorder->rings.closed(manager);
  EXPECT_EQ(record().open, 0);
  recorder->rings.reset(manager);
  recorder->rings.reset(50);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR), 2u);
}

TEST_F(RingsTest, ThreadsShareAManager) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    const ttmem_workload_t mine = recorder->workloads.created(t, set);
    threads.emplace_back([this, mine] {
      for (int i = 0; i < 500; ++i) launch(mine, 3000);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(record().reserves, 2000u);
  EXPECT_EQ(record().expected, 2000u * 64);
}

}  // namespace
}  // namespace ttmem::client
