// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/memory_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
}

TEST(MemoryText, GuessesAreMarked) {
  ledger::DeviceView device = chip();
  device.figures.kernels.by_type = {};
  device.figures.kernels.estimated = {3, 1, 819'200};
  const std::string text = breakdown(device);
  EXPECT_THAT(text, HasSubstr("    Kernels (est): 800.0KB (3 kernels, not in L1 Memory)\n"));
  EXPECT_THAT(text, HasSubstr("  L1 (Kernels):    800.0KB (est)\n"));
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

}  // namespace
}  // namespace ttmem::legacy
