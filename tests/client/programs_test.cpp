// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/programs.hpp"

#include <thread>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

constexpr auto kKernels = TTMEM_FIGURE_KERNELS;
constexpr auto kProgramL1 = TTMEM_FIGURE_PROGRAM_L1;

class ProgramsTest : public Recording {
 protected:
  ProgramsTest() : Recording(2) { first = set_of({chips[0]}); }

  // Which ranges count: those of the generation that the live program slot names.
  static std::vector<Payload> current_ranges(const TinyReader& seen, std::uint64_t id) {
    std::vector<Payload> found;
    for (const auto& program : seen.live(Kind::kProgram)) {
      if (program.id != id) continue;
      for (const auto& range : seen.live(Kind::kRange)) {
        if (range.id == id && range.set == program.set && range.operation == program.b >> 32) {
          found.push_back(range);
        }
      }
    }
    return found;
  }
  ttmem_range range(std::uint64_t size, ttmem_cores_t on, std::uint8_t part = TTMEM_PART_CB) {
    ttmem_range made = {};
    made.address = 105664;
    made.size = size;
    made.cores = on;
    made.part = part;
    return made;
  }
  void add(std::uint64_t id, ttmem_set_t on, std::vector<ttmem_kernel> kernels,
           std::vector<ttmem_range> ranges, std::uint8_t type = TTMEM_KERNEL_APPLICATION,
           std::uint32_t flags = 0) {
    ttmem_program program = {};
    program.struct_size = sizeof program;
    program.type = type;
    program.set = on;
    program.id = id;
    program.flags = flags;
    program.kernel_count = static_cast<std::uint32_t>(kernels.size());
    program.kernels = kernels.data();
    program.range_count = static_cast<std::uint32_t>(ranges.size());
    program.ranges = ranges.data();
    recorder->programs.registered(program, {});
  }
  ttmem_kernel kernel(std::uint32_t bytes, ttmem_cores_t on) {
    ttmem_kernel made = {};
    made.packed_bytes = bytes;
    made.cores = on;
    return made;
  }
  ttmem_workload_t workload(std::uint64_t id, ttmem_set_t on, std::uint64_t program) {
    const ttmem_workload_t handle = recorder->workloads.created(id, on);
    recorder->workloads.joined(handle, program, on);
    return handle;
  }
  void dispatch(ttmem_workload_t handle) {
    if (!recorder->workloads.dispatched_hot(handle)) recorder->workloads.dispatched(handle, 0);
  }
  Payload only(Kind kind) {
    const auto found = reader().live(kind);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Payload{} : found[0];
  }
  ttmem_set_t first = 0;
};

TEST_F(ProgramsTest, AProgramCountsNoKernelByteBeforeItIsDispatched) {
  add(1, set, {kernel(57344, cores(0, 0, 15, 0, TTMEM_CORE_ACTIVE_ETH))}, {}, TTMEM_KERNEL_FABRIC);
  EXPECT_EQ(taken(kKernels), 0u);
  EXPECT_EQ(reader().count(Kind::kKernel), 1u);
  const ttmem_workload_t handle = workload(9, set, 1);
  dispatch(handle);
  EXPECT_EQ(taken(kKernels, 0), 917504u);
  EXPECT_EQ(taken(kKernels, 1), 917504u);
  EXPECT_TRUE(Meta::flags(only(Kind::kProgram).meta) & segment::kFlagLoaded);
  EXPECT_EQ(only(Kind::kProgram).a, 9u);
  EXPECT_EQ(Meta::variant(only(Kind::kProgram).meta), TTMEM_KERNEL_FABRIC);
}

TEST_F(ProgramsTest, WhatTheDeviceLoadsItselfIsThereAndIsNoLaunch) {
  add(1, set, {kernel(57344, cores(0, 0, 15, 0, TTMEM_CORE_ACTIVE_ETH))}, {}, TTMEM_KERNEL_FABRIC);
  recorder->workloads.dispatched(workload(9, set, 1), TTMEM_DISPATCH_BUILT);
  EXPECT_EQ(taken(kKernels), 917504u);
  EXPECT_TRUE(Meta::flags(only(Kind::kProgram).meta) & segment::kFlagLoaded);
  EXPECT_EQ(only(Kind::kWorkload).a, 0u);
  EXPECT_EQ(reader().counters().first_loads[chips[0]], 0u);
}

TEST_F(ProgramsTest, ASecondDispatchAddsNoByteAndNoEvent) {
  add(1, set, {kernel(102400, cores(0, 0, 7, 9))}, {});
  const ttmem_workload_t handle = workload(9, set, 1);
  dispatch(handle);
  const std::uint64_t events = reader().header().head;
  const std::uint64_t stamp = only(Kind::kWorkload).b;
  EXPECT_TRUE(recorder->workloads.dispatched_hot(handle));
  EXPECT_EQ(taken(kKernels), 8192000u);
  EXPECT_EQ(reader().header().head, events);
  EXPECT_EQ(only(Kind::kWorkload).a, 2u);
  EXPECT_GT(only(Kind::kWorkload).b, stamp);
  EXPECT_NE(only(Kind::kWorkload).time, 0u);
  EXPECT_EQ(reader().counters().first_loads[chips[0]], 1u);
}

TEST_F(ProgramsTest, UnknownCoresCountAsOne) {
  add(1, set, {kernel(1000, 0), kernel(500, cores(0, 0, 1, 0))}, {});
  dispatch(workload(9, set, 1));
  EXPECT_EQ(taken(kKernels), 2000u);
}

TEST_F(ProgramsTest, AnEstimateIsInNoTotal) {
  add(1, set, {kernel(1000, 0)}, {}, TTMEM_KERNEL_APPLICATION, TTMEM_FLAG_ESTIMATED);
  dispatch(workload(9, set, 1));
  EXPECT_EQ(taken(kKernels), 0u);
}

TEST_F(ProgramsTest, ReleasingAProgramReturnsEverySlot) {
  const std::uint64_t before = reader().counters().live_slots;
  add(1, set, {kernel(1000, 0), kernel(2000, 0)}, {range(4096, 0), range(64, 0)});
  add(1, first, {}, {range(4096, 0)});
  const ttmem_workload_t handle = workload(9, set, 1);
  dispatch(handle);
  EXPECT_EQ(reader().count(Kind::kProgram), 2u);
  EXPECT_EQ(reader().count(Kind::kKernel), 2u);
  recorder->programs.released(1);
  recorder->workloads.released(handle);
  EXPECT_EQ(taken(kKernels), 0u);
  EXPECT_EQ(peak(kKernels), 3000u);
  EXPECT_EQ(reader().counters().live_slots, before);
  for (const auto kind : {Kind::kProgram, Kind::kKernel, Kind::kRange, Kind::kWorkload}) {
    EXPECT_EQ(reader().count(kind), 0u);
  }
  recorder->programs.released(1);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_PROGRAM), 1u);
  EXPECT_EQ(reader().counters().dispatches[chips[1]], 1u);  // folded in
}

TEST_F(ProgramsTest, RangesAreReplacedInOneCommit) {
  add(1, set, {}, {range(100, 0), range(200, 0)});
  const std::uint64_t before = reader().header().head;
  const ttmem_range other = range(700, 0);
  recorder->programs.ranges_replaced(1, set, &other, 1);
  // At every event, the ranges that count are the old ones or the new ones, never a mixture.
  const auto seen = reader();
  std::map<std::uint32_t, Payload> table;
  std::vector<std::uint64_t> sums;
  for (const auto& event : seen.events()) {
    if (event.slot == segment::kNoSlot) continue;
    table[event.slot] = event.payload;
    if (event.number <= before) continue;
    std::uint64_t sum = 0, generation = 0;
    for (const auto& [slot, payload] : table) {
      if (Meta::kind(payload.meta) == Kind::kProgram) generation = payload.b >> 32;
    }
    for (const auto& [slot, payload] : table) {
      if (Meta::kind(payload.meta) == Kind::kRange && Meta::live(payload.meta) &&
          payload.operation == generation) {
        sum += Meta::block(payload.meta);
      }
    }
    sums.push_back(sum);
  }
  ASSERT_FALSE(sums.empty());
  EXPECT_EQ(sums.front(), 300u);
  EXPECT_EQ(sums.back(), 700u);
  for (const std::uint64_t sum : sums) EXPECT_TRUE(sum == 300 || sum == 700) << sum;
}

TEST_F(ProgramsTest, TheSameProgramAgainChangesNothing) {
  add(1, set, {kernel(1000, 0)}, {range(64, 0)});
  dispatch(workload(9, set, 1));
  const std::uint64_t slots = reader().counters().live_slots;
  add(1, set, {kernel(1000, 0)}, {range(64, 0)});
  EXPECT_EQ(reader().counters().live_slots, slots);
  EXPECT_EQ(taken(kKernels), 1000u);
  EXPECT_EQ(only(Kind::kProgram).a, 9u);
  add(1, set, {kernel(3000, 0)}, {range(64, 0)});  // other kernels have to be loaded
  EXPECT_EQ(taken(kKernels), 0u);
  EXPECT_EQ(reader().counters().live_slots, slots);
}

// The recorder's part of the union of circular buffers: the ranges and cores that readers merge.
TEST_F(ProgramsTest, EveryProgramKeepsItsOwnRanges) {
  add(1, first, {}, {range(4096, cores(0, 0, 1, 0))});
  add(2, first, {}, {range(4096, cores(0, 0, 1, 0))});
  add(3, first, {}, {range(6144, cores(1, 0, 2, 0))});
  EXPECT_EQ(reader().count(Kind::kRange), 3u);
  recorder->programs.released(1);
  recorder->programs.released(2);
  ASSERT_EQ(current_ranges(reader(), 3).size(), 1u);
  EXPECT_EQ(Meta::block(current_ranges(reader(), 3)[0].meta), 6144u);
  recorder->programs.released(3);
  EXPECT_EQ(reader().count(Kind::kRange), 0u);
  add(4, first, {}, {range(4096, cores(0, 0, 1, 0))});
  add(4, set, {}, {range(4096, cores(0, 0, 1, 0))});
  add(4, set, {}, {range(4096, cores(0, 0, 1, 0))});  // also when repeated
  EXPECT_EQ(current_ranges(reader(), 4).size(), 2u);
  recorder->programs.released(4);
  EXPECT_EQ(reader().count(Kind::kRange), 0u);
}

TEST_F(ProgramsTest, ThePeakOfProgramL1IsTheLargestPerCore) {
  add(1, first, {}, {range(4096, cores(0, 0, 1, 0)), range(999, 0, TTMEM_PART_VIEW)});
  add(2, first, {}, {range(6144, cores(1, 0, 2, 0))});
  EXPECT_EQ(peak(kProgramL1), 0u);
  dispatch(workload(1, first, 1));
  EXPECT_EQ(peak(kProgramL1), 8192u);
  dispatch(workload(2, first, 2));
  EXPECT_EQ(peak(kProgramL1), 16384u);  // 4096 + 6144 + 6144
  recorder->programs.released(1);
  recorder->programs.released(2);
  EXPECT_EQ(peak(kProgramL1), 16384u);
  EXPECT_EQ(peak(kProgramL1, 1), 0u);
}

TEST_F(ProgramsTest, ConfigSizesAreInterned) {
  add(1, set, {}, {});
  const std::uint32_t sizes[TTMEM_CORE_TYPES] = {1600, 0, 64, 0, 0};
  recorder->programs.config_sized(1, set, sizes);
  const auto seen = reader();
  const std::string blob = seen.blob(static_cast<std::uint32_t>(only(Kind::kProgram).b));
  EXPECT_EQ(blob, std::string(reinterpret_cast<const char*>(sizes), sizeof sizes));
}

TEST_F(ProgramsTest, ClosingADeviceUnloadsAndTheNextDispatchLoadsAgain) {
  add(1, set, {kernel(1000, 0)}, {});
  add(2, first, {kernel(500, 0)}, {});
  const ttmem_workload_t both = workload(8, set, 1);
  const ttmem_workload_t one = workload(9, first, 2);
  dispatch(both);
  dispatch(one);
  EXPECT_EQ(taken(kKernels, 0), 1500u);
  recorder->device_closed(chips[1]);
  EXPECT_EQ(taken(kKernels, 0), 500u);
  EXPECT_EQ(taken(kKernels, 1), 0u);
  EXPECT_FALSE(recorder->workloads.dispatched_hot(both));
  EXPECT_TRUE(recorder->workloads.dispatched_hot(one));
  recorder->devices.opened(device_info(101));
  dispatch(both);
  EXPECT_EQ(taken(kKernels, 1), 1000u);
  EXPECT_EQ(reader().counters().first_loads[chips[1]], 2u);
  for (const Payload& launched : reader().live(Kind::kWorkload)) {
    EXPECT_EQ(launched.a, 2u);
    EXPECT_EQ(launched.allocator, launched.id == 8 ? 2u : 1u) << "launches that loaded";
  }
}

TEST_F(ProgramsTest, AJoinedProgramIsLoadedByTheNextDispatch) {
  add(1, first, {kernel(100, 0)}, {});
  add(2, first, {kernel(200, 0)}, {});
  const ttmem_workload_t handle = workload(9, first, 1);
  dispatch(handle);
  recorder->workloads.joined(handle, 2, first);
  EXPECT_EQ(taken(kKernels), 100u);
  dispatch(handle);
  EXPECT_EQ(taken(kKernels), 300u);
  EXPECT_EQ(only(Kind::kWorkload).a, 2u);
}

TEST_F(ProgramsTest, AWorkloadNamesTheBufferOfItsBinaries) {
  allocate(buffer(70, 2048));
  const ttmem_workload_t handle = recorder->workloads.created(9, set);
  EXPECT_EQ(only(Kind::kWorkload).cores, segment::kNoSlot);
  recorder->workloads.binaries(handle, allocator, 70);
  const auto seen = reader();
  const std::uint32_t slot = only(Kind::kWorkload).cores;
  ASSERT_LT(slot, seen.table().size());
  EXPECT_EQ(seen.table()[slot].payload.id, 70u);
  EXPECT_TRUE(Meta::flags(seen.table()[slot].payload.meta) & segment::kFlagKernelBinaries);
  release(70);
  EXPECT_EQ(only(Kind::kWorkload).cores, segment::kNoSlot);
  recorder->workloads.binaries(handle, allocator, 71);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), 1u);
}

TEST_F(ProgramsTest, HandlesThatAreNotLiveAreCounted) {
  const ttmem_workload_t handle = recorder->workloads.created(9, set);
  recorder->workloads.released(handle);
  const ttmem_workload_t again = recorder->workloads.created(10, set);
  EXPECT_NE(handle, again);
  dispatch(handle);
  dispatch(0);
  dispatch(again ^ 1ull << 60);  // of another recorder
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_WORKLOAD), 2u);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_STALE_HANDLE), 1u);
  EXPECT_EQ(reader().counters().unrecorded, 3u);
  EXPECT_EQ(only(Kind::kWorkload).a, 0u);
}

TEST_F(ProgramsTest, SlowDispatchesAreCountedApart) {
  const ttmem_workload_t handle = recorder->workloads.created(9, first);
  recorder->workloads.dispatched(handle, TTMEM_DISPATCH_SLOW);
  EXPECT_EQ(reader().counters().slow_dispatches[chips[0]], 1u);
  EXPECT_EQ(only(Kind::kWorkload).a, 1u);
}

TEST_F(ProgramsTest, DispatchesOfManyThreadsAreAllCounted) {
  add(1, set, {kernel(100, 0)}, {});
  const ttmem_workload_t handle = workload(9, set, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) dispatch(handle);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(only(Kind::kWorkload).a, 20000u);
  EXPECT_EQ(reader().header().order, 20000u);
  EXPECT_EQ(taken(kKernels), 100u);
}

// ---- traces --------------------------------------------------------------------------------

TEST_F(ProgramsTest, ATraceKeepsItsMembers) {
  add(1, set, {kernel(100, 0)}, {range(64, 0)});
  const ttmem_workload_t handle = workload(9, set, 1);
  dispatch(handle);
  recorder->traces.begun(5, set, 1);
  EXPECT_TRUE(Meta::flags(only(Kind::kTrace).meta) & segment::kFlagHeld);
  recorder->traces.captured(5, handle);
  recorder->traces.captured(5, handle);
  recorder->traces.ended(5);
  const auto seen = reader();
  const Payload trace = only(Kind::kTrace);
  EXPECT_FALSE(Meta::flags(trace.meta) & segment::kFlagHeld);
  EXPECT_EQ(trace.allocator, 1u);                 // queue
  ASSERT_EQ(seen.blob(trace.cores).size(), 16u);  // each member once
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(seen.blob(trace.cores).data()), 1u);
  EXPECT_EQ(seen.counters().captures[chips[0]], 2u);

  recorder->programs.released(1);
  EXPECT_TRUE(Meta::flags(only(Kind::kProgram).meta) & segment::kFlagHeld);
  EXPECT_EQ(current_ranges(reader(), 1).size(), 1u);
  EXPECT_EQ(taken(kKernels), 0u);
  recorder->traces.replayed(5);
  recorder->traces.replayed(5);
  EXPECT_EQ(only(Kind::kTrace).a, 2u);
  EXPECT_EQ(only(Kind::kTrace).b, reader().header().order);
  EXPECT_EQ(reader().notes(segment::Note::kTraceReplayed), 2u);
  recorder->traces.released(5);
  EXPECT_EQ(reader().count(Kind::kProgram), 0u);
  EXPECT_EQ(reader().count(Kind::kRange), 0u);
  EXPECT_EQ(reader().count(Kind::kKernel), 0u);
  EXPECT_EQ(reader().counters().replays[chips[1]], 2u);
}

TEST_F(ProgramsTest, TwoTracesHoldAProgramUntilBothAreGone) {
  add(1, set, {}, {});
  const ttmem_workload_t handle = workload(9, set, 1);
  for (const std::uint64_t id : {5, 6}) {
    recorder->traces.begun(id, set, 0);
    recorder->traces.captured(id, handle);
    recorder->traces.ended(id);
  }
  recorder->programs.released(1);
  recorder->traces.released(5);
  EXPECT_EQ(reader().count(Kind::kProgram), 1u);
  recorder->traces.released(6);
  EXPECT_EQ(reader().count(Kind::kProgram), 0u);
  recorder->traces.released(6);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_TRACE), 1u);
}

TEST_F(ProgramsTest, ClosingADeviceEndsItsTraces) {
  add(1, set, {}, {});
  const ttmem_workload_t handle = workload(9, set, 1);
  recorder->traces.begun(5, set, 0);
  recorder->traces.captured(5, handle);
  recorder->traces.ended(5);
  recorder->programs.released(1);
  recorder->device_closed(chips[1]);
  EXPECT_EQ(reader().count(Kind::kTrace), 0u);
  EXPECT_EQ(reader().count(Kind::kProgram), 0u);
}

TEST_F(ProgramsTest, EndsOnOneSetAndStaysOnTheOther) {
  const ttmem_set_t second = set_of({chips[1]});
  add(15, first, {kernel(57344, 0)}, {});
  add(15, second, {kernel(57344, 0)}, {});
  recorder->programs.released_on(15, first);
  const TinyReader seen(recorder->writer.store.file().path());
  ASSERT_EQ(seen.count(Kind::kProgram), 1u);
  EXPECT_EQ(seen.live(Kind::kProgram)[0].set, second);
  EXPECT_EQ(seen.count(Kind::kKernel), 1u) << "the other one still has it";
  recorder->programs.released_on(15, first);
  recorder->programs.released_on(15, second);
  const TinyReader after(recorder->writer.store.file().path());
  EXPECT_EQ(after.count(Kind::kProgram) + after.count(Kind::kKernel), 0u);
  EXPECT_EQ(after.anomalies(TTMEM_ANOMALY_UNKNOWN_PROGRAM), 1u);
}

TEST_F(ProgramsTest, CoresMayBeOnlyCounted) {
  const ttmem_cores_t sixteen = recorder->interning.core_count(TTMEM_CORE_ACTIVE_ETH, 16);
  EXPECT_EQ(recorder->writer.interner.core_count(sixteen), 16u);
  EXPECT_EQ(recorder->interning.core_count(TTMEM_CORE_ACTIVE_ETH, 0), 0u);
  EXPECT_EQ(recorder->interning.core_count(TTMEM_CORE_ACTIVE_ETH, 1u << 20), 0u);
}

}  // namespace
}  // namespace ttmem::client
