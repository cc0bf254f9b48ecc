// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "legacy/reports.hpp"
#include "support/owners.hpp"
#include "view/seeds_snapshot.hpp"

namespace ttmem::legacy {
namespace {

using ledger::EventKind;
using ledger::EventView;
using ledger::KernelType;
using testing::HasSubstr;

EventView buffer_event(EventKind kind, std::uint64_t bytes, std::uint64_t address) {
  EventView event;
  event.kind = kind;
  event.process = test::owner(12345);
  event.devices = {{0, 1, 0, 0}};
  event.id = 99;
  event.address = address;
  event.requested = bytes;
  event.space = ledger::Space::kL1;
  return event;
}

EventView load_event(KernelType type, std::uint32_t bytes, std::uint32_t cores,
                     std::uint64_t total) {
  EventView event;
  event.kind = EventKind::kProgramLoaded;
  event.process = test::owner(12345);
  event.id = 0xabc;
  event.type = type;
  event.footprint = std::uint64_t{bytes} * cores;
  event.cores = cores;
  event.loaded_after = true;
  event.kernels = {{"k", "", ledger::CoreType::kTensix, 255, bytes, cores, event.footprint}};
  event.devices = {{0, 1, total, 0}};
  return event;
}

std::string lines(const EventView& event, bool detail = false) {
  return event_lines(event, nullptr, {detail});
}

TEST(EventLines, Buffers) {
  EXPECT_EQ(lines(buffer_event(EventKind::kBufferAllocated, 1048576, 1)),
            "✓ [PID 12345] Allocated 1048576 bytes of L1 on device 0 (buffer_id=0x1)\n");
  EXPECT_EQ(lines(buffer_event(EventKind::kBufferFreed, 1048576, 1)),
            "✗ [PID 12345] Freed buffer 0x1 on device 0 (1048576 bytes, FINAL)\n");
}

TEST(EventLines, ABufferWithoutOneAddressIsNamedById) {
  EXPECT_THAT(lines(buffer_event(EventKind::kBufferFreed, 64, 0)), HasSubstr("buffer 0x63 on"));
}

TEST(EventLines, UnknownFree) {
  EventView event;
  event.kind = EventKind::kAnomaly;
  event.process = test::owner(12345);
  event.reason = "unknown_free";
  event.unknown_id = 0x1887000;
  EXPECT_EQ(lines(event),
            "⚠ [PID 12345] Deallocation for unknown buffer 0x1887000 on device 0 (allocated before "
            "tracking started)\n");
}

// Running totals by kernel type, as in the original's notes.
TEST(EventLines, KernelLoads) {
  EXPECT_EQ(lines(load_event(KernelType::kFabric, 57344, 1, 57344)),
            "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.0546875 MB (Total: 0.0546875 MB)\n");
  EXPECT_EQ(lines(load_event(KernelType::kFabric, 57344, 1, 114688)),
            "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.0546875 MB (Total: 0.109375 MB)\n");
  EXPECT_EQ(lines(load_event(KernelType::kDispatch, 47104, 1, 161792)),
            "✓ [KERNEL_LOAD] Dispatch kernel on Device 0: +0.0449219 MB (Total: 0.154297 MB)\n");
  EXPECT_EQ(lines(load_event(KernelType::kApplication, 131072, 1, 339968)),
            "✓ [KERNEL_LOAD] Application kernel on Device 0: +0.125 MB (Total: 0.324219 MB)\n");
}

// Per-core counting: binary size x cores.
TEST(EventLines, KernelLoadsOfTheSeeds) {
  EXPECT_EQ(lines(load_event(KernelType::kFabric, 57344, 16, 917504)),
            "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.875 MB (Total: 0.875 MB)\n");
  EXPECT_EQ(lines(load_event(KernelType::kDispatch, 47104, 2, 1011712)),
            "✓ [KERNEL_LOAD] Dispatch kernel on Device 0: +0.0898438 MB (Total: 0.964844 MB)\n");
}

TEST(EventLines, DetailSaysSizeAndCores) {
  EXPECT_EQ(
      lines(load_event(KernelType::kFabric, 57344, 16, 917504), true),
      "🔍 KERNEL_LOAD Backtrace (Device 0, Type: Fabric, Binary Size: 56 KB, Cores: 16, Total "
      "L1: 896 KB, ID: 0xabc)\n"
      "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.875 MB (Total: 0.875 MB)\n");
}

TEST(EventLines, CoresThatNobodyToldAreNotOne) {
  EventView event = load_event(KernelType::kFabric, 917504, 1, 917504);
  event.cores.reset();
  EXPECT_THAT(lines(event, true),
              HasSubstr("Binary Size: ?, Cores: ?, Total L1: 896 KB, ID: 0xabc"));
}

// Two routers with a kernel each: their program is on two cores.
TEST(EventLines, CoresAreThoseOfAllKernels) {
  EventView event = load_event(KernelType::kFabric, 4576, 1, 9152);
  event.kernels.push_back(event.kernels[0]);
  event.footprint = 9152;
  event.cores = 2;
  EXPECT_THAT(lines(event, true),
              HasSubstr("Binary Size: 8.9375 KB, Cores: 2, Total L1: 8.9375 KB"));
}

TEST(EventLines, GuessesCountFromTheirRegistrationOn) {
  EventView event = load_event(KernelType::kApplication, 51200, 16, 0);
  event.kind = EventKind::kProgramRegistered;
  event.loaded_after = false;
  event.estimated = true;
  event.estimated_after = 819200;
  event.devices[0].kernels_estimated = 819200;
  EXPECT_EQ(lines(event),
            "✓ [KERNEL_LOAD] Application kernel (est) on Device 0: +0.78125 MB (Total: 0.78125 "
            "MB)\n");
}

TEST(EventLines, AProgramWithoutKernelsLoadsNone) {
  EventView event = load_event(KernelType::kApplication, 0, 0, 0);
  event.kernels.clear();
  EXPECT_EQ(lines(event, true), "");
}

TEST(EventLines, OneLoadLineADevice) {
  EventView event = load_event(KernelType::kFabric, 57344, 16, 917504);
  event.devices.push_back({1, 2, 917504, 0});
  EXPECT_EQ(lines(event),
            "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.875 MB (Total: 0.875 MB)\n"
            "✓ [KERNEL_LOAD] Fabric kernel on Device 1: +0.875 MB (Total: 0.875 MB)\n");
}

TEST(EventLines, CircularBuffersComeAndGoWithTheirProgram) {
  EventView event;
  event.kind = EventKind::kProgramRegistered;
  event.l1_after = 262144;
  event.devices = {{0, 1, 0, 262144}};
  EXPECT_EQ(lines(event), "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n");
  event.kind = EventKind::kProgramReleased;
  event.l1_before = 262144;
  event.l1_after = 0;
  event.loaded_before = true;
  event.kernels.emplace_back();
  event.footprint = 131072;
  event.devices = {{0, 1, 0, 0}};
  EXPECT_EQ(lines(event),
            "✗ [KERNEL_UNLOAD] Application kernel on Device 0: -0.125 MB (Total: 0 MB)\n"
            "✗ [CB_FREE] Device 0: -0.25 MB (Total: 0 MB)\n");
}

TEST(EventLines, ADeathSaysWhatWasRemoved) {
  const ledger::Snapshot snapshot = test::seeds_snapshot();
  EventView event;
  event.kind = EventKind::kProcessEnded;
  event.process = test::owner(4712);
  event.ended = ledger::Ended::kDied;
  EXPECT_EQ(event_lines(event, &snapshot.processes[1], {}),
            "\n⚠️  Detected dead processes, cleaning up orphaned buffers...\n"
            "   PID 4712 is dead, removing its buffers...\n"
            "   ✓ Removed 2 buffers (26 MB) from PID 4712\n"
            "   ✓ Removed 1 CBs (2.10938 MB) from PID 4712\n"
            "   ✓ Removed 3 kernels (8.77734 MB) from PID 4712\n\n");
}

TEST(EventLines, AGapIsSaid) {
  EventView event;
  event.kind = EventKind::kGap;
  event.process = test::owner(7);
  event.missed = 12;
  EXPECT_THAT(lines(event), HasSubstr("12 events of PID 7 were overwritten"));
}

TEST(EventLines, WhatTheOriginalDidNotKnowGivesNoLine) {
  EventView event;
  event.devices = {{}};
  for (const EventKind kind : {EventKind::kDeviceOpened, EventKind::kTraceReplayed,
                               EventKind::kWorkloadCreated, EventKind::kReloaded}) {
    event.kind = kind;
    EXPECT_EQ(lines(event), "");
  }
}

}  // namespace
}  // namespace ttmem::legacy
