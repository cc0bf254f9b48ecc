// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Slots that change, told as things that happen.
#include <unistd.h>

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::EventKind;
using ledger::EventView;
using segment::Kind;
using segment::Meta;
using segment::Payload;
using support::buffer_payload;
using support::SegmentBuilder;
using support::TemporaryDirectory;

class EventsOf : public ::testing::Test {
 protected:
  EventsOf() : builder_(name(1)) {
    builder_.lock();
    builder_.add_usual_device();
    cores16_ = builder_.add_list<std::uint8_t>(segment::BlobKind::kCores, {0, 0, 0, 0, 0, 0, 3, 3});
  }
  std::string name(unsigned number) const {
    return directory_ / fmt::format("ttmem-{}-1-{:016x}", 100 + number, number);
  }
  Collector following() const {
    Options options;
    options.directories = {directory_.path()};
    options.events = true;
    return Collector(options);
  }
  static std::vector<EventView> next(Collector& collector) {
    collector.refresh();
    return collector.take_events();
  }
  static std::vector<EventKind> kinds(const std::vector<EventView>& events) {
    std::vector<EventKind> kinds;
    for (const EventView& event : events) kinds.push_back(event.kind);
    return kinds;
  }
  Payload program(bool loaded, std::uint32_t generation = 1, bool live = true) const {
    Payload payload{};
    payload.meta = Meta::pack(Kind::kProgram, live, 0, 1, loaded ? segment::kFlagLoaded : 0u, 0);
    payload.id = 5;
    payload.b = std::uint64_t{generation} << 32;
    payload.set = 1;
    return payload;
  }
  Payload kernel(bool live = true) const {
    Payload payload{};
    payload.meta = Meta::pack(Kind::kKernel, live, 0, 1, 0, 0);
    payload.id = 5;
    payload.b = 57344;
    payload.cores = cores16_;
    return payload;
  }
  Payload range(std::uint64_t size, std::uint32_t generation, bool live = true) const {
    Payload payload{};
    payload.meta = Meta::pack(Kind::kRange, live, 0, 0, 0, size);
    payload.id = 5;
    payload.set = 1;
    payload.cores = cores16_;
    payload.operation = generation;
    return payload;
  }
  TemporaryDirectory directory_;
  SegmentBuilder builder_;
  std::uint32_t cores16_ = 0;
};

// Every look reads the clocks anew: the one on the wall some nanoseconds later than the last time,
// or set back.
TEST_F(EventsOf, NoneIsEarlierThanTheOneBeforeUnlessTheClockWasSetBack) {
  Collector collector = following();
  const Moment first = Moment::now();
  bool is_held = false;
  const auto told_at = [&](std::uint64_t elapsed_ns, std::int64_t misread_ns) {
    is_held = !is_held;
    Payload payload = buffer_payload(1, 64, 1000, 0, is_held);
    payload.time = first.monotonic_ns;
    builder_.put(0, payload);
    collector.refresh(
        {0, first.monotonic_ns + elapsed_ns, first.wall_ns + elapsed_ns + misread_ns});
    return collector.take_events().back().time;
  };
  const ledger::TimeNs time = told_at(1000, 0);
  EXPECT_EQ(told_at(2000, -10), time);
  EXPECT_EQ(told_at(3000, 10), time + 10);
  EXPECT_EQ(told_at(4000, -3'600'000'000'000), time - 3'600'000'000'000);
}

TEST_F(EventsOf, BuffersFromTheBeginningAndAsTheyCome) {
  builder_.put(0, buffer_payload(0x11, 64, 1000));
  builder_.put(0, buffer_payload(0x11, 64, 1000, 0, false));
  Collector collector = following();
  auto events = next(collector);
  ASSERT_EQ(kinds(events), (std::vector{EventKind::kProcessStarted, EventKind::kBufferAllocated,
                                        EventKind::kBufferFreed}));
  EXPECT_EQ(events[1].id, 0x11u);
  EXPECT_EQ(events[1].process->pid, ::getpid());
  EXPECT_EQ(events[1].number, 1u);
  EXPECT_EQ(events[1].requested, 1000u);
  EXPECT_EQ(events[1].taken, 12000u);
  ASSERT_EQ(events[1].devices.size(), 1u);
  EXPECT_EQ(events[1].devices[0].id, 0u);
  EXPECT_EQ(events[2].requested, 1000u) << "a free tells the size that was stored";
  EXPECT_GE(events[2].time, events[1].time);
  EXPECT_TRUE(next(collector).empty());
  Payload flagged = buffer_payload(0x12, 64, 500);
  builder_.put(0, flagged);
  flagged.meta |= std::uint64_t{segment::kFlagKernelBinaries} << Meta::kFlagsShift;
  builder_.put(0, flagged);
  events = next(collector);
  ASSERT_EQ(kinds(events), (std::vector{EventKind::kBufferAllocated, EventKind::kBufferChanged}));
  EXPECT_TRUE(events[1].kernel_binaries);
}

TEST_F(EventsOf, AProgramFromRegistrationToRelease) {
  Collector collector = following();
  next(collector);
  builder_.put(0, kernel());
  builder_.put(1, range(1024, 1));
  builder_.put(2, program(false));
  builder_.put(2, program(true));
  builder_.put(3, range(2048, 2));
  builder_.put(2, program(true, 2));
  builder_.put(1, range(1024, 1, false));
  builder_.put(2, program(true, 2, false));
  builder_.put(0, kernel(false));
  builder_.put(3, range(2048, 2, false));
  const auto events = next(collector);
  ASSERT_EQ(kinds(events), (std::vector{EventKind::kProgramRegistered, EventKind::kProgramLoaded,
                                        EventKind::kProgramChanged, EventKind::kProgramReleased}));
  const EventView& registered = events[0];
  EXPECT_EQ(registered.type, ledger::KernelType::kFabric);
  EXPECT_EQ(registered.l1_after, 1024 * 16u);
  EXPECT_EQ(registered.devices.at(0).kernels_footprint, 0u) << "not loaded yet";
  EXPECT_EQ(registered.devices.at(0).program_l1_allocated, 1024 * 16u);
  const EventView& loaded = events[1];
  EXPECT_EQ(loaded.footprint, 917504u);
  ASSERT_EQ(loaded.kernels.size(), 1u);
  EXPECT_EQ(loaded.kernels[0].packed_bytes, 57344u);
  EXPECT_EQ(loaded.kernels[0].cores, 16u);
  EXPECT_EQ(loaded.devices.at(0).kernels_footprint, 917504u);
  EXPECT_EQ(events[2].l1_before, 1024 * 16u);
  EXPECT_EQ(events[2].l1_after, 2048 * 16u);
  EXPECT_EQ(events[2].devices.at(0).program_l1_allocated, 2048 * 16u);
  EXPECT_EQ(events[3].l1_before, 2048 * 16u);
  EXPECT_EQ(events[3].footprint, 917504u);
  EXPECT_TRUE(events[3].loaded_before);
  EXPECT_EQ(events[3].devices.at(0).kernels_footprint, 0u);
  EXPECT_EQ(events[3].devices.at(0).program_l1_allocated, 0u);
}

TEST_F(EventsOf, AReloadIsToldOfItsWorkload) {
  const auto workload = [](std::uint64_t reloads) {
    Payload payload{};
    payload.meta = Meta::pack(Kind::kWorkload, true, 0, 0, 0, reloads);
    payload.id = 8;
    payload.set = 1;
    return payload;
  };
  builder_.put(0, workload(0));
  Collector collector = following();
  next(collector);
  builder_.put(0, workload(0));
  builder_.put(0, workload(1));
  auto events = next(collector);
  ASSERT_EQ(kinds(events), (std::vector{EventKind::kWorkloadChanged, EventKind::kReloaded}));
  EXPECT_EQ(events[1].workload, 8u);
  for (std::uint32_t i = 0; i < segment::kEventCapacity; ++i) {
    builder_.put(3, buffer_payload(2, 4096, 64));
    builder_.put(3, buffer_payload(2, 4096, 64, 0, false));
  }
  builder_.put(0, workload(2));
  EXPECT_EQ(next(collector).back().kind, EventKind::kReloaded) << "also behind a gap";
}

TEST_F(EventsOf, TotalsRunOverProcessesAndTheDeadAreTakenOut) {
  const auto load = [&](SegmentBuilder& builder) {
    builder.put(0, kernel());
    builder.put(1, program(false));
    builder.put(1, program(true));
  };
  load(builder_);
  support::Child other([&](const auto& ready) {
    SegmentBuilder builder(name(2));
    builder.lock();
    builder.add_usual_device();
    builder.add_list<std::uint8_t>(segment::BlobKind::kCores, {0, 0, 0, 0, 0, 0, 3, 3});
    load(builder);
    ready();
  });
  Collector collector = following();
  const auto first = next(collector);
  EXPECT_EQ(first.back().devices.at(0).kernels_footprint, 2 * 917504u);
  other.kill();
  const auto events = next(collector);
  ASSERT_EQ(kinds(events), std::vector{EventKind::kProcessEnded});
  EXPECT_EQ(events[0].ended, ledger::Ended::kDied);
  EXPECT_EQ(events[0].devices.at(0).kernels_footprint, 917504u);
  EXPECT_TRUE(next(collector).empty()) << "it dies once";
}

// What the last event says of a device is what a snapshot of the same moment says.
void expect_totals_of(const ledger::Snapshot& snapshot, const std::vector<EventView>& events) {
  ASSERT_FALSE(events.empty());
  ASSERT_FALSE(events.back().devices.empty());
  for (const ledger::EventDevice& device : events.back().devices) {
    const ledger::DeviceFigures& figures = snapshot.devices.at(device.id).figures;
    EXPECT_EQ(device.kernels_footprint, figures.kernels.total().footprint);
    EXPECT_EQ(device.program_l1_allocated, figures.program_l1.allocated);
  }
}

TEST_F(EventsOf, TotalsAreThoseOfTheSnapshotWhateverDangles) {
  Collector collector = following();
  next(collector);
  Payload no_cores = kernel(), lost_cores = kernel(), orphan = kernel();
  no_cores.cores = 0;
  lost_cores.cores = 999;  // a set of cores that is not there
  orphan.id = 77;          // of no program
  Payload lost_range = range(512, 1), other_generation = range(2048, 9);
  lost_range.cores = 999;
  const std::vector<Payload> parts = {kernel(),       no_cores,   lost_cores,      orphan,
                                      range(1024, 1), lost_range, other_generation};
  for (std::uint32_t slot = 0; slot < parts.size(); ++slot) builder_.put(slot, parts[slot]);
  builder_.put(10, program(false));
  builder_.put(10, program(true));
  expect_totals_of(collector.snapshot(), [&] { return next(collector); }());
  const auto footprint = [&] {
    return collector.snapshot().devices.at(0).figures.kernels.total().footprint;
  };
  EXPECT_EQ(footprint(), 57344u * 16 + 57344u) << "cores that are not there count nothing";

  builder_.put(11, program(true));  // twice on one set, which cannot be
  Payload nowhere = program(true);
  nowhere.set = 9;  // a device set that is not there
  nowhere.id = 6;
  builder_.put(12, nowhere);
  Payload estimated = program(true);
  estimated.id = 7;
  estimated.meta |= std::uint64_t{segment::kFlagEstimated} << Meta::kFlagsShift;
  builder_.put(13, estimated);
  const auto more = next(collector);
  expect_totals_of(collector.snapshot(), more);

  builder_.put(2, kernel());  // what was missing comes, and its program says nothing
  next(collector);
  builder_.put(20, buffer_payload(1, 64, 1000));
  expect_totals_of(collector.snapshot(), next(collector));
  EXPECT_EQ(footprint(), 57344u * 32 + 57344u);

  Collector late = following();
  expect_totals_of(late.snapshot(), next(late));
}

TEST_F(EventsOf, TellingLeavesEveryFigureAsItIs) {
  builder_.put(0, kernel());
  builder_.put(1, range(1024, 1));
  builder_.put(2, program(false));
  builder_.put(2, program(true));
  builder_.put(3, buffer_payload(1, 64, 1000));
  builder_.put(4, buffer_payload(2, 4096, 64));
  builder_.put(4, buffer_payload(2, 4096, 64, 0, false));
  Collector telling = following();
  Options options;
  options.directories = {directory_.path()};
  Collector quiet(options);
  const auto expect_same = [&] {
    telling.refresh();
    quiet.refresh();
    EXPECT_EQ(telling.snapshot().devices, quiet.snapshot().devices);
  };
  expect_same();
  builder_.put(5, buffer_payload(3, 8192, 64));
  builder_.put(3, buffer_payload(1, 64, 1000, 0, false));
  expect_same();
  for (std::uint32_t i = 0; i < segment::kEventCapacity; ++i) {
    builder_.put(6 + i % 3, buffer_payload(10 + i, 4096, 64));
  }
  builder_.put(2, program(true, 1, false));
  expect_same();
}

TEST_F(EventsOf, AGapIsSaidAndWhatFollowsIsStillRight) {
  builder_.put(0, kernel());
  builder_.put(1, program(false));
  builder_.put(1, program(true));
  builder_.put(2, buffer_payload(1, 64, 1000));
  Collector collector = following();
  next(collector);
  for (std::uint32_t i = 0; i < segment::kEventCapacity; ++i) {
    builder_.put(3, buffer_payload(2, 4096, 64));
    builder_.put(3, buffer_payload(2, 4096, 64, 0, false));
  }
  builder_.put(1, program(true, 1, false));
  builder_.put(2, buffer_payload(1, 64, 1000, 0, false));
  const auto events = next(collector);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].kind, EventKind::kGap);
  EXPECT_EQ(events[0].missed + events.size() - 1, 2 * segment::kEventCapacity + 2u);
  const EventView& released = events[events.size() - 2];
  EXPECT_EQ(released.kind, EventKind::kProgramReleased);
  EXPECT_EQ(released.footprint, 917504u) << "what was registered before the gap is known";
  EXPECT_EQ(released.devices.at(0).kernels_footprint, 0u);
  EXPECT_EQ(events.back().kind, EventKind::kBufferFreed);
  EXPECT_EQ(events.back().requested, 1000u);
}

TEST_F(EventsOf, NotesInWords) {
  Collector collector = following();
  next(collector);
  Payload note{};
  note.a = 1;
  builder_.put_note(segment::Note::kDeviceOpened, note);
  note = {};
  note.id = 1;
  note.a = 2;
  note.set = 1;
  builder_.put_note(segment::Note::kFailed, note);
  note = {};
  note.b = 0x77;
  builder_.put_note(segment::Note::kAnomaly, note);
  builder_.put_note(static_cast<segment::Note>(200), note);
  const auto events = next(collector);
  ASSERT_EQ(kinds(events),
            (std::vector{EventKind::kDeviceOpened, EventKind::kFailed, EventKind::kAnomaly}));
  EXPECT_EQ(events[0].devices.at(0).unique_id, 0xABCu);
  EXPECT_EQ(events[1].reason, "cb_clash");
  EXPECT_EQ(events[1].failure, 1u);
  EXPECT_EQ(events[2].reason, "unknown_free");
  EXPECT_EQ(events[2].unknown_id, 0x77u);
}

}  // namespace
}  // namespace ttmem::collect
