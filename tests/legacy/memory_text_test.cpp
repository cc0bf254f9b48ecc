// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/memory_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "legacy/reports.hpp"
#include "legacy/viewer.hpp"

namespace ttmem::legacy {
namespace {

using ledger::Space;
using testing::HasSubstr;
using testing::Not;

ledger::DeviceView chip() {
  ledger::DeviceView device;
  device.arch = ledger::Arch::kBlackhole;
  device.figures.space(Space::kDram).requested = 100ull << 20;
  device.figures.space(Space::kDram).capacity = 32ull << 30;
  device.figures.space(Space::kL1).requested = 12ull << 20;
  device.figures.l1_capacity = 180ull << 20;
  device.figures.program_l1.allocated = 2'202'009;
  device.figures.kernels.by_type = {{{5, 5, 122'880}, {2, 2, 114'688}, {2, 2, 94'208}}};
  return device;
}

// The split and the block that the original's notes wanted.
TEST(MemoryText, BothLayoutsOfTheNotes) {
  const std::string text = breakdown(chip());
  EXPECT_THAT(text, HasSubstr("    Kernels:       324.0KB\n"
                              "      - Fabric:     112 KB  (2 kernels)\n"
                              "      - Dispatch:   92 KB   (2 kernels)\n"
                              "      - Application: 120 KB (5 kernels)\n"));
  EXPECT_THAT(text, HasSubstr("  L1 (Allocator):  12.0MB\n"
                              "  L1 (CBs):        2.1MB\n"
                              "  L1 (Kernels):    324.0KB\n"
                              "  ───────────────────────────────\n"
                              "  L1 Total:        14.4MB\n"));
  EXPECT_THAT(text, HasSubstr("] 7.8%\n")) << "14.1 of 180 MB";
}

TEST(MemoryText, EveryScreenHasThem) {
  ledger::Snapshot snapshot;
  snapshot.devices = {chip()};
  for (const Screen screen : {Screen::kMain, Screen::kCharts, Screen::kTelemetry}) {
    const std::string text = screen_text(snapshot, screen, {}, true);
    EXPECT_THAT(text, HasSubstr("      - Fabric:     112 KB  (2 kernels)\n"));
    EXPECT_THAT(text, HasSubstr("  L1 Total:        14.4MB\n"));
  }
}

TEST(MemoryText, NoPartIsLargerThanItsWholeWithoutALabel) {
  ledger::DeviceView device = chip();
  device.figures.space(Space::kL1) = {};
  device.figures.space(Space::kL1).taken = 0;
  device.figures.space(Space::kL1Small).taken = 0;
  device.figures.program_l1.resident = 786'432;
  device.figures.program_l1.allocated = 5'976'883;
  device.figures.kernels.by_type[0].footprint = 8ull << 20;
  const std::string text = breakdown(device);
  EXPECT_THAT(text, HasSubstr("  L1 Memory:  768.0KB"));
  EXPECT_THAT(text, HasSubstr("    CBs:           768.0KB\n    CBs (all programs): 5.7MB\n"));
  EXPECT_THAT(text, HasSubstr("    Kernels:         8.2MB  (size x cores, not in L1 Memory)\n"));
  EXPECT_THAT(text, HasSubstr("  L1 (CBs):        5.7MB (all programs)\n"));
  device.figures.l1_capacity = 10ull << 20;
  EXPECT_THAT(l1_summary(device),
              HasSubstr("  L1 Total:        13.9MB (an upper bound, more than the L1)\n"));
}

TEST(MemoryText, GuessesAreMarked) {
  ledger::DeviceView device = chip();
  device.figures.kernels.by_type = {};
  device.figures.kernels.estimated = {3, 1, 819'200};
  const std::string text = breakdown(device);
  EXPECT_THAT(text, HasSubstr("    Kernels (est): 800.0KB (3 kernels, not in L1 Memory)\n"));
  EXPECT_THAT(text, HasSubstr("  L1 (Kernels):    800.0KB (est)\n"));
  EXPECT_THAT(l1_summary(device), HasSubstr("    Kernels (est): 800.0KB (3 kernels")) << "too";
}

TEST(MemoryText, WithoutAProcessThatKnowsTheBoardHasItsNominalCapacity) {
  ledger::DeviceView device = chip();
  device.figures.space(Space::kDram).capacity.reset();
  device.figures.l1_capacity.reset();
  EXPECT_THAT(breakdown(device), HasSubstr("  DRAM:       100.0MB    / 32.0GB"));
  EXPECT_THAT(breakdown(device), HasSubstr("% (nominal)\n"));
  device.arch = ledger::Arch::kUnknown;
  EXPECT_THAT(breakdown(device), HasSubstr("  DRAM:       100.0MB    / N/A\n"));
  EXPECT_THAT(breakdown(device), Not(HasSubstr("nominal")));
}

// As a region of a stock TT-Metal tells: buffers and the reserved circular buffers, and no kernels.
TEST(MemoryText, WhatNobodyToldIsNotNothing) {
  ledger::DeviceView device = chip();
  device.figures.program_l1 = {};
  device.figures.program_l1.reserved = 786'432;
  device.figures.kernels = {};
  EXPECT_THAT(breakdown(device), HasSubstr("    CBs:           768.0KB\n"));
  EXPECT_THAT(breakdown(device), HasSubstr("  L1 (CBs):        768.0KB\n"
                                           "  L1 (Kernels):    N/A\n"));
  EXPECT_THAT(breakdown(device),
              HasSubstr("  L1 Total:        12.8MB (without what is not known)\n"));
  ledger::Snapshot snapshot;
  snapshot.devices = {device};
  EXPECT_THAT(status_text(snapshot), HasSubstr("    CBs:            768 KB\n"
                                               "    Kernels:        N/A\n"
                                               "    Total:          12.8 MB / 180 MB"));
}

TEST(MemoryText, ChartsNameTheSharesOfTheSmallerSpaces) {
  ledger::Snapshot snapshot;
  snapshot.devices = {chip()};
  snapshot.devices[0].figures.space(Space::kL1Small).requested = 9ull << 20;
  snapshot.devices[0].figures.space(Space::kTrace).requested = 3277ull << 20;
  const std::string text = screen_text(snapshot, Screen::kCharts, {}, true);
  EXPECT_THAT(text, HasSubstr("| L1_SMALL: 5.0%\n"));
  EXPECT_THAT(text, HasSubstr("| TRACE: 10.0%\n"));
}

TEST(MemoryText, BarsHaveTheColoursOfTheOriginal) {
  EXPECT_EQ(coloured(share_bar(50)).substr(0, 9), "[\x1b[32m█");
  EXPECT_THAT(coloured(share_bar(75)), HasSubstr("[\x1b[33m█"));
  EXPECT_THAT(coloured(share_bar(90)), HasSubstr("[\x1b[31m█"));
  EXPECT_THAT(coloured(share_bar(90)), HasSubstr("█\x1b[0m░"));
  EXPECT_EQ(coloured("a " + share_bar(0) + "\nb"), "a " + share_bar(0) + "\nb");
  EXPECT_THAT(coloured(share_bar(100) + "\n" + share_bar(10)),
              HasSubstr("█\x1b[0m] 100.0%\n[\x1b[32m█"));
}

}  // namespace
}  // namespace ttmem::legacy
