// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/owners.hpp"
#include "view/labels.hpp"
#include "view/seeds_snapshot.hpp"
#include "view/text.hpp"

namespace ttmem::view {
namespace {

using ledger::CoreStretch;
using ledger::CoreView;
using ledger::HoldingKind;
using ledger::HoldingView;
using ledger::Stretch;
using test::kNow;
using test::kSecondNs;
using test::owner;
using test::process_named;
using testing::HasSubstr;

HoldingView fabric_kernel() {
  HoldingView kernel;
  kernel.kind = HoldingKind::kKernel;
  kernel.process = owner(4711);
  kernel.devices = {0};
  kernel.id = 1;
  kernel.index = 0;
  kernel.dispatches = 12;
  kernel.type = ledger::KernelType::kFabric;
  kernel.name = "fabric_router";
  kernel.packed = 57'344;
  kernel.cores = 16;
  kernel.core_type = ledger::CoreType::kActiveEth;
  kernel.footprint = 917'504;
  kernel.since = kNow - 60 * kSecondNs;
  kernel.first_dispatch = kNow - 50 * kSecondNs;
  kernel.last_dispatch = kNow - 2 * kSecondNs;
  return kernel;
}

TEST(Dump, AKernelTellsEverythingAboutItself) {
  EXPECT_GOLDEN("dump_kernel.txt", dump_text({fabric_kernel()}, kNow, {}));
}

TEST(Dump, EveryKindHasATable) {
  std::vector<HoldingView> holdings;
  for (const auto kind : {HoldingKind::kTrace, HoldingKind::kBuffer, HoldingKind::kRange,
                          HoldingKind::kProgram, HoldingKind::kKernel}) {
    holdings.push_back(fabric_kernel());
    holdings.back().kind = kind;
  }
  const std::string text = dump_text(holdings, kNow, {});
  for (const char* heading : {"Buffers\n", "Programs\n", "Kernels ", "Program L1\n", "Traces\n"}) {
    EXPECT_THAT(text, HasSubstr(heading));
  }
  EXPECT_EQ(dump_text({}, kNow, {}), "");
}

// The number at its end is what people look for, however deep the file lies.
TEST(Dump, ASourceLineIsNeverCut) {
  HoldingView buffer = fabric_kernel();
  buffer.kind = HoldingKind::kBuffer;
  buffer.line = "/home/user/tt-metal/models/demos/llama3/tt/attention.py:1234 forward";
  EXPECT_THAT(dump_text({buffer}, kNow, {}), HasSubstr(buffer.line));
}

// As a client of the original tells a circular buffer, by its address or by its index.
TEST(Dump, WhatNobodyToldOfARangeIsAQuestion) {
  HoldingView range;
  range.kind = HoldingKind::kRange;
  range.process = owner(4711);
  range.id = 7;
  range.index = 3;
  EXPECT_THAT(dump_text({range}, kNow, {}), HasSubstr("cb        3        ?"));
  range.index = std::nullopt;
  range.address = 101'152;
  EXPECT_THAT(dump_text({range}, kNow, {}), HasSubstr("cb        ?  0x18b20"));
}

TEST(Dump, AFailureShowsItsPicture) {
  ProcessFailure failed{process_named(4711), {}, {}};
  failed.failure.number = 1;
  failed.failure.kind = "out_of_memory";
  failed.failure.time = kNow - 4 * kSecondNs;
  failed.failure.message = "Out of Memory";
  failed.failure.requested = 64'880'640;
  failed.failure.per_bank = 1'013'760;
  failed.failure.space = ledger::Space::kL1;
  failed.failure.truncated = true;
  failed.picture.emplace({fabric_kernel()});
  const std::string text = failure_text(failed, kNow, {});
  EXPECT_THAT(text,
              HasSubstr("python3 (4711), failure 1: out_of_memory, 4 s ago\n  Out of Memory\n"));
  EXPECT_THAT(text, HasSubstr("Asked for 61.9 MiB (990.0 KiB in each bank) of L1"));
  EXPECT_THAT(text, HasSubstr("1 holding (the largest; there were more)"));
  EXPECT_THAT(text, HasSubstr("fabric_router"));
}

TEST(Programs, TellWhatTheyTakeAndHowOftenTheyRan) {
  ledger::ProgramView program;
  program.process = owner(4711);
  program.id = 3;
  program.name = "matmul";
  program.loaded = true;
  program.kernels = 1;
  program.cores = 80;
  program.footprint = 8'192'000;
  program.l1_allocated = 2'211'840;
  program.l1_largest_core = 27'648;
  program.config_bytes[0] = 14'336;
  program.dispatches = 207;
  program.cache_hits = 203;
  program.reloads = 3;
  program.dispatches_per_second = 0.5;
  program.last_dispatch = kNow - 2 * kSecondNs;
  const std::string text = programs_text({program, {}}, kNow, {});
  for (const char* cell : {"matmul", "loaded", "7.8 MiB", "27.0 KiB", "2.1 MiB", "14.0 KiB", "207",
                           "203", " 3 ", "0.5/s", "2 s", "registered"}) {
    EXPECT_THAT(text, HasSubstr(cell));
  }
}

// Of the circular buffers of the original's clients, say: nobody tells when they are launched.
TEST(Programs, WhoseLaunchesNobodyTellsAreNotSaidToHaveNone) {
  ledger::ProgramView program;
  program.process = owner(4711);
  EXPECT_THAT(programs_text({program}, kNow, {}),
              HasSubstr("?     ?        ?        ?     ?    ?     ?\n"));
  program.dispatches = program.cache_hits = program.reloads = program.replays = 0;
  EXPECT_THAT(programs_text({program}, kNow, {}),
              HasSubstr("0     0        0        0     -    ?     -\n"));
}

// One process knows that it took nothing, another only what it asked for: 0 would be false.
TEST(Amounts, AreWhatWasRequestedWhereNotAllIsKnownToBeTaken) {
  ledger::SpaceFigures space;
  EXPECT_EQ(amount(space).bytes, std::nullopt);
  space.requested = 4000;
  EXPECT_EQ(amount(space).bytes, 4000u);
  space.taken = 0;
  EXPECT_EQ(amount(space).bytes, 4000u);
  EXPECT_EQ(amount(space).word, "requested");
  space.taken = 4096;
  EXPECT_EQ(amount(space).bytes, 4096u);
  EXPECT_EQ(amount(space).word, "taken");
}

// A client of the original tells a size and no cores: that is neither 0 cores nor 0 bytes per core.
TEST(Programs, OnCoresThatNobodyToldSayThatTheyAreNotKnown) {
  ledger::ProgramView program;
  program.process = owner(4711);
  EXPECT_EQ(known_cores(program), 0u);
  program.kernels = 1;
  EXPECT_EQ(known_cores(program), std::nullopt);
  EXPECT_EQ(known_l1_per_core(program), 0u);
  program.l1_allocated = 262'144;
  EXPECT_EQ(known_l1_per_core(program), std::nullopt);
  EXPECT_THAT(programs_text({program}, kNow, {}), HasSubstr("1      ?        0 B            ?"));
  HoldingView kernel = fabric_kernel();
  kernel.cores = 0;
  EXPECT_THAT(dump_text({kernel}, kNow, {}), HasSubstr("         ?      ?  active_eth"));
}

// ---- cores ------------------------------------------------------------------------------------

CoreView core_with(std::vector<CoreStretch> map) {
  CoreView core;
  core.l1_bytes = map.back().end;
  core.map = std::move(map);
  return core;
}

CoreView example_core() {
  CoreView core = core_with({{Stretch::kFixed, 0, 100, "", {}},
                             {Stretch::kRing, 100, 200, "", {}},
                             {Stretch::kProgramL1, 200, 300, "CB 0", owner(1, "a")},
                             {Stretch::kFree, 300, 900, "", {}},
                             {Stretch::kBuffer, 900, 1000, "x", owner(1, "a")}});
  core.headroom = 600;
  core.kernel_footprint = 10;
  return core;
}

TEST(Cores, TableAddsUpAndMapGoesUpwards) {
  CoreView core = example_core();
  core.core = {ledger::CoreType::kTensix, 3, 4};
  core.fixed = 100;
  core.ring = 100;
  core.program_l1 = 100;
  core.free = 600;
  core.buffers = 100;
  EXPECT_EQ(cores_text({0, 1, {core}}, {}),
            "Device 0, bytes per core\n"
            "  Core  Role    Fixed  Ring  Program L1  Gaps  Free  Buffers  L1_SMALL   = L1  "
            "Headroom  Kernels\n"
            "  3,4   worker    100   100         100     0   600      100         0  1,000       "
            "600       10\n");
  const std::string map = core_map_text(0, core, {});
  EXPECT_THAT(map, HasSubstr("core 3,4 (worker), 1,000 bytes of L1, bottom to top"));
  EXPECT_LT(map.find("fixed"), map.find("ring"));
  EXPECT_LT(map.find("CB 0"), map.find("buffer"));
  EXPECT_THAT(map, HasSubstr("a (1)"));
}

TEST(Cores, AClashSaysWhoIsOnBothSides) {
  CoreView fine = example_core(), clash = example_core();
  clash.core = {ledger::CoreType::kTensix, 3, 4};
  clash.headroom = -5'664;
  clash.clash = {"matmul in trace 7", "to_memory\x1b", owner(4711)};
  const std::string who = "matmul in trace 7 and to_memory\\x1b of python3 (4711)";
  const std::string table = cores_text({0, 1, {fine, clash}}, {});
  EXPECT_THAT(table, HasSubstr("Headroom  Kernels  Clash\n"));
  EXPECT_THAT(table, HasSubstr("     600       10\n"));
  EXPECT_THAT(table, HasSubstr("-5,664       10  " + who + "\n"));
  EXPECT_THAT(core_map_text(0, clash, {}), HasSubstr("Headroom -5,664 bytes, a clash: " + who));
  clash.clash = {"matmul", "", owner(4711)};
  EXPECT_THAT(core_map_text(0, clash, {}), HasSubstr("matmul and the end of the L1 of python3"));
  clash.clash = {"", "x", owner(4711)};
  EXPECT_THAT(core_map_text(0, clash, {}),
              HasSubstr("the base of the program L1 and x of python3"));
}

TEST(Cores, OfADeviceThatNobodyHasOpenAreNotListed) {
  EXPECT_EQ(cores_text({0, 1, {}}, {}),
            "Device 0, bytes per core\n"
            "  no living process has it open and reports its cores\n");
}

}  // namespace
}  // namespace ttmem::view
