// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "legacy/reports.hpp"
#include "support/golden.hpp"
#include "view/seeds_snapshot.hpp"

namespace ttmem::legacy {
namespace {

using test::seeds_snapshot;
using testing::HasSubstr;

TEST(StatusText, SeedsLayouts) { EXPECT_GOLDEN("seeds_legacy.txt", status_text(seeds_snapshot())); }

// The tree that the original's notes wanted, number for number.
TEST(StatusText, TreeOfTheNotes) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::DeviceView& device = snapshot.devices[0];
  device.arch = ledger::Arch::kBlackhole;
  device.figures = {};
  device.figures.space(ledger::Space::kL1).requested = 0;
  device.figures.program_l1.allocated = 2'202'009;
  device.figures.l1_capacity = std::uint64_t{306} << 20;
  device.figures.kernels.by_type = {{{5, 5, 122'880}, {2, 2, 114'688}, {2, 2, 94'208}}};
  EXPECT_THAT(status_text(snapshot), HasSubstr("Device 0 (Blackhole):\n"
                                               "  L1 Memory:\n"
                                               "    Buffers:        0.0B\n"
                                               "    CBs:            2.1 MB\n"
                                               "    Kernels:        324.0KB\n"
                                               "      - Fabric:     112 KB  (2 kernels)\n"
                                               "      - Dispatch:   92 KB   (2 kernels)\n"
                                               "      - Application: 120 KB (5 kernels)\n"
                                               "    Total:          2.4 MB / 306 MB\n"));
}

}  // namespace
}  // namespace ttmem::legacy
