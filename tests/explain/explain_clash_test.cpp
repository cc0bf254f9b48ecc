// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "explain/explain.hpp"
#include "explain/scene.hpp"

namespace ttmem::explain {
namespace {

TEST(Explain, AClashIsCuredByMovingTheLowestBuffer) {
  const Findings findings = Scene().held(1200, 1300, 1).held(1600, 1900, 2).clash(1250);
  EXPECT_EQ(findings.verdict, Verdict::kClash);
  ASSERT_TRUE(findings.clash);
  EXPECT_EQ(findings.clash->overlap, 50u);
  EXPECT_EQ(findings.clash->cores, "0,0-7,7");
  EXPECT_EQ(findings.clash->buffer.line, "a.py:1 f");
  ASSERT_EQ(findings.cures.front().kind, CureKind::kReallocate);
  EXPECT_EQ(findings.cures.front().to_spare, 350u) << "it goes to 1900..2000";
  EXPECT_EQ(findings.holders.front().origin.line, "a.py:1 f");
}

// What an operation made for its own result is there before its program, and cannot be freed first.
TEST(Explain, TheResultOfTheOperationItselfIsNotFreedBefore) {
  Scene scene;
  scene.held(1300, 1400, 2).held(1400, 2000, 1);
  scene.picture.failed.blocks[0].since = 2;
  scene.picture.failed.blocks[1].since = 1;
  scene.picture.dram = scene.picture.failed;
  scene.picture.dram->space = Space::kDram;
  scene.picture.dram->blocks.clear();
  scene.picture.dram->bank = {0, 1u << 30};
  scene.failure.operation = "ttnn.ones";
  scene.failure.line = "a.py:2 f";
  Findings findings = scene.clash(1350);
  const Cure* freeing = find(findings, CureKind::kDeallocate);
  ASSERT_NE(freeing, nullptr);
  EXPECT_EQ(freeing->addresses, std::vector<std::uint64_t>{1400});
  EXPECT_EQ(freeing->to_spare, 550u) << "the result goes to 1900";
  EXPECT_EQ(find(findings, CureKind::kReallocate), nullptr);
  const Cure* elsewhere = find(findings, CureKind::kRequestInDram);
  ASSERT_NE(elsewhere, nullptr);
  EXPECT_EQ(elsewhere->to_spare, 50u);
  // Shards are a part of the program where they lie: without them it is another one.
  scene.picture.failed.blocks[0].layout = ledger::Layout::kHeightSharded;
  EXPECT_EQ(find(scene.clash(1350), CureKind::kRequestInDram), nullptr);
  // An older one of the same line is from the round before.
  scene.picture.failed.blocks[1].since = 3;
  findings = scene.clash(1350);
  ASSERT_NE(find(findings, CureKind::kDeallocate), nullptr);
  EXPECT_EQ(find(findings, CureKind::kDeallocate)->addresses, std::vector<std::uint64_t>{1300});
}

// Halo tables, sharded inputs: a convolution makes tensors on the way to its result.
TEST(Explain, WhatTheOperationMadeOnItsWayIsNotFreedBefore) {
  Scene scene;
  scene.held(1200, 1250, 2).held(1250, 1400, 2).held(1400, 1450, 2).held(1450, 2000, 1);
  for (std::size_t i = 0; i < 4; ++i) scene.picture.failed.blocks[i].since = 10 - i;
  scene.failure.operation = scene.picture.failed.origins[1].operation = "ttnn.conv2d";
  scene.failure.line = "a.py:2 f";
  Findings findings = scene.clash(1300);
  const Cure* freeing = find(findings, CureKind::kDeallocate);
  ASSERT_NE(freeing, nullptr);
  EXPECT_EQ(freeing->addresses, std::vector<std::uint64_t>{1450})
      << "the result has 50 B, as that of the round before, which would not be enough";
  EXPECT_EQ(freeing->to_spare, 100u) << "the result of the round before stays at 1400";
  EXPECT_NE(findings.remarks.front().find("newest 2 buffers"), std::string::npos);

  findings = scene.ask(300);
  EXPECT_EQ(findings.verdict, Verdict::kFull);
  freeing = find(findings, CureKind::kDeallocate);
  ASSERT_NE(freeing, nullptr);
  EXPECT_EQ(freeing->addresses, std::vector<std::uint64_t>{1450});
}

TEST(Explain, OnlyAsManyAreFreedAboveAsWhatItMakesNeeds) {
  Scene scene;
  scene.held(1200, 1400, 2).held(1400, 1450, 1).held(1450, 1550, 1).held(1550, 2000, 1);
  for (std::size_t i = 0; i < 4; ++i) scene.picture.failed.blocks[i].since = 10 - i;
  scene.failure.operation = scene.picture.failed.origins[1].operation = "ttnn.conv2d";
  scene.failure.line = "a.py:2 f";
  const Findings findings = scene.clash(1350);
  const Cure* freeing = find(findings, CureKind::kDeallocate);
  ASSERT_NE(freeing, nullptr);
  EXPECT_EQ(freeing->addresses, (std::vector<std::uint64_t>{1400, 1450}))
      << "its 200 B then lie from 1350 on; with the lowest alone from 1250, all would be too many";
}

TEST(Explain, OfDataflowBuffersOnlyTheLowestIsOfAnInputForCertain) {
  const auto divisor = [](ledger::Part part) {
    Scene scene = wide_l1();
    scene.held(480'000, 1'000'000, 1).failure.operation = "ttnn.matmul";
    scene.failure.program = 7;
    ledger::HeldProgram program;
    program.id = 7;
    program.parts = {{part, 0, {100'000, 300'000}},
                     {part, part == ledger::Part::kCb ? 1u : 0u, {300'000, 500'000}},
                     {part, part == ledger::Part::kCb ? 2u : 0u, {500'000, 600'000}}};
    scene.picture.failed.programs = {program};
    const Findings findings = scene.clash(600'000);
    const Cure* cure = find(findings, CureKind::kProgramConfig);
    return cure ? *cure->value : 0;
  };
  EXPECT_EQ(divisor(ledger::Part::kCb), 4u) << "400,000 B become 200,000";
  EXPECT_EQ(divisor(ledger::Part::kDataflowBuffer), 8u) << "200,000 B become 50,000";
}

TEST(Explain, AClashByLittleIsCuredByASmallerL1Small) {
  Scene scene;
  scene.picture.failed.l1_small = {2000, 18384};
  scene.picture.failed.l1_small_held = 64;
  scene.held(1200, 2000, 1);
  const Findings findings = scene.clash(1392);
  EXPECT_EQ(find(findings, CureKind::kReallocate), nullptr) << "there is no hole above";
  const Cure* cure = find(findings, CureKind::kL1SmallSize);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->value, 16384u - 192);
  scene.picture.failed.l1_small_held = 16384;
  EXPECT_EQ(find(scene.clash(1392), CureKind::kL1SmallSize), nullptr);
}

}  // namespace
}  // namespace ttmem::explain
