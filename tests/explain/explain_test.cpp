// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/explain.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "explain/scene.hpp"

namespace ttmem::explain {
namespace {

TEST(Explain, FullNamesTheCheapestFreeingThatFits) {
  const Findings findings =
      Scene().held(1300, 1700, 1).held(1700, 1900, 2).held(1900, 2000, 3).ask(450);
  EXPECT_EQ(findings.verdict, Verdict::kFull);
  EXPECT_EQ(findings.sum.asked, 450u);
  EXPECT_EQ(*findings.sum.held + *findings.sum.holes, findings.sum.bank);
  const Cure* cure = find(findings, CureKind::kDeallocate);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->line, "a.py:1 f");
  EXPECT_EQ(cure->frees, 400u);
  EXPECT_EQ(cure->hole, 700u);
  EXPECT_EQ(cure->to_spare, 250u);
}

TEST(Explain, SmallerShardsOnMoreCoresAreTriedOut) {
  Scene scene;
  scene.failure.per_bank = 2400;
  scene.failure.message =
      "Out of Memory: Not enough space to allocate 9600 B L1 buffer across 4 banks, where each "
      "bank needs to store 2400 B, but bank size is 1000 B (allocated: 0 B, free: 1000 B, largest "
      "free block: 1000 B)";
  Findings findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_EQ(findings.verdict, Verdict::kTooLarge);
  EXPECT_NE(findings.headline.find("in each of 4 banks"), std::string::npos) << findings.headline;
  const Cure* cure = find(findings, CureKind::kShard);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->value, 3u) << "halves have 1,200, which do not fit either";
  EXPECT_EQ(cure->to_spare, 200u);
  // On 64 banks 32 shards become 64, which is not enough.
  scene.failure.message.replace(scene.failure.message.find("across 4"), 8, "across 32");
  findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_EQ(find(findings, CureKind::kShard), nullptr);
}

TEST(Explain, AFullTraceRegionNamesItsSize) {
  Scene scene(Space::kTrace);
  scene.failure.per_bank = 700;
  scene.failure.message =
      "Out of Memory: Not enough space to allocate 8400 B TRACE buffer across 12 banks, where each "
      "bank needs to store 700 B, but bank size is 1000 B (allocated: 400 B, free: 600 B, largest "
      "free block: 600 B)";
  const Findings findings = explain_failure(scene.failure, nullptr);
  EXPECT_EQ(findings.verdict, Verdict::kTraceRegion);
  const Cure* cure = find(findings, CureKind::kTraceRegionSize);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->value, 1700u * 12);
}

TEST(Explain, ScatteredMovesWhatLiesBetweenTheHoles) {
  // 1000 ..200.. 1200 [100] 1300 ..200.. 1500 [350] 1850 ..150..
  const Findings findings = Scene().held(1200, 1300, 1).held(1500, 1850, 2).ask(400);
  EXPECT_EQ(findings.verdict, Verdict::kScattered);
  const Cure* move = find(findings, CureKind::kReallocate);
  ASSERT_NE(move, nullptr);
  EXPECT_EQ(move->line, "a.py:1 f");
  EXPECT_EQ(move->hole, 500u);
  const Cure* freeing = find(findings, CureKind::kDeallocate);
  ASSERT_NE(freeing, nullptr);
  EXPECT_EQ(freeing->frees, 100u);
}

TEST(Explain, AMoveWithinItsOwnHoleCounts) {
  // The block would be placed at the top of the same hole.
  const Findings findings =
      Scene().held(1000, 1450, 1).held(1550, 1650, 2).held(1800, 2000, 3).ask(240);
  EXPECT_EQ(findings.verdict, Verdict::kScattered);
  const Cure* move = find(findings, CureKind::kReallocate);
  ASSERT_NE(move, nullptr);
  EXPECT_EQ(move->hole, 250u) << "1450..1700 is left below 1700..1800";
  EXPECT_EQ(Scene().held(1000, 1450, 1).held(1550, 1650, 2).held(1800, 2000, 3).ask(251).verdict,
            Verdict::kFull);
}

TEST(Explain, SeveralNeighboursAreFreedWhereOneIsNotEnough) {
  const Findings findings = Scene()
                                .held(1000, 1200, 1)
                                .held(1200, 1400, 2)
                                .held(1400, 1600, 3)
                                .held(1600, 2000, 4)
                                .ask(600);
  EXPECT_EQ(findings.verdict, Verdict::kFull);
  const Cure* cure = find(findings, CureKind::kDeallocate);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->frees, 600u);
  EXPECT_NE(cure->text.find("a.py:1"), std::string::npos);
}

TEST(Explain, OfEqualFreeingsTheOneThatLeavesMostIsNamed) {
  const Findings findings =
      Scene().held(1000, 1300, 1).held(1300, 1600, 2).held(1600, 1900, 3).ask(300);
  EXPECT_EQ(findings.verdict, Verdict::kFull);
  const Cure* cure = find(findings, CureKind::kDeallocate);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->line, "a.py:3 f") << "what lies beside the hole";
  EXPECT_EQ(cure->to_spare, 100u);
}

// The copy of a tensor is a program too, and needs L1 below the lowest buffer.
TEST(Explain, WhereNoCopyFindsRoomNothingIsMoved) {
  const auto ask = [](std::uint64_t lowest) {
    Scene scene = wide_l1();
    scene.held(lowest, 900'000, 1).picture.dram->alignment = 32;
    return scene.clash(lowest + 100);
  };
  const Findings tight = ask(108'191), roomy = ask(108'192);
  ASSERT_NE(find(tight, CureKind::kMoveToDram), nullptr);
  ASSERT_NE(find(roomy, CureKind::kMoveToDram), nullptr);
  EXPECT_EQ(find(tight, CureKind::kMoveToDram)->call, "memory_config=ttnn.DRAM_MEMORY_CONFIG");
  EXPECT_EQ(find(tight, CureKind::kMoveToDram)->text.substr(0, 22), "Or make it in DRAM: it");
  EXPECT_EQ(find(roomy, CureKind::kMoveToDram)->text.substr(0, 22), "Or move it to DRAM, or");
}

// A tensor that moves up by less than it is long goes through L1 as a whole.
TEST(Explain, AMoveIntoItsOwnBytesNeedsRoomForAllOfIt) {
  const auto moves = [](std::uint64_t lowest) {
    Scene scene = wide_l1();
    scene.held(lowest, 850'000, 1);
    return find(scene.clash(lowest + 100), CureKind::kReallocate) != nullptr;
  };
  EXPECT_TRUE(moves(400'000)) << "450,000 B move to 550,000, above as many free ones";
  EXPECT_FALSE(moves(399'000));
}

TEST(Explain, KernelBinariesAreNotDeallocatedByHand) {
  const Findings findings = Scene().held(1000, 2000, 1, HeldKind::kKernelBinaries).ask(400);
  EXPECT_EQ(find(findings, CureKind::kDeallocate), nullptr);
  const Cure* cure = find(findings, CureKind::kClearProgramCache);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->hole, 1000u);
}

// What a computing operation asks for may be on the way to its result, and its program comes later.
TEST(Explain, OfAnOperationThatComputesMoreIsLeftOpen) {
  const auto ask = [](const char* operation) {
    Scene scene = wide_l1();
    scene.picture.dram->alignment = 32;
    scene.picture.failed.bank = {1000, 2000};
    scene.picture.failed.unreserved_base = 1000;
    scene.failure.operation = operation;
    return scene.held(1400, 2000, 1).ask(450);
  };
  const Findings made = ask("ttnn.empty"), computed = ask("ttnn.matmul");
  ASSERT_NE(find(made, CureKind::kRequestInDram), nullptr);
  EXPECT_EQ(find(made, CureKind::kRequestInDram)->given, "");
  EXPECT_EQ(find(computed, CureKind::kRequestInDram)->given,
            "it is the result of ttnn.matmul itself");
  EXPECT_EQ(computed.unknown.size(), made.unknown.size() + 1);
}

TEST(Explain, TooLargeIsNeverCuredByFreeing) {
  const Findings findings = Scene().held(1000, 1100, 1).ask(4096);
  EXPECT_EQ(findings.verdict, Verdict::kTooLarge);
  EXPECT_EQ(find(findings, CureKind::kDeallocate), nullptr);
  EXPECT_EQ(find(findings, CureKind::kReallocate), nullptr);
}

// The last strip, if it is of this kind.
std::optional<ledger::AddressRange> drawn_over(const Findings& findings, StripKind kind) {
  if (findings.picture.empty() || findings.picture.back().kind != kind) return std::nullopt;
  return findings.picture.back().range;
}

TEST(Explain, WhatIsLargerThanTheBankIsDrawnBeyondIt) {
  using Range = ledger::AddressRange;
  EXPECT_EQ(drawn_over(Scene().held(1000, 1100, 1).ask(4096), StripKind::kNeeded),
            Range(1100, 5196));
  const Findings findings = Scene().held(1900, 2000, 1).grow_to(5000);
  EXPECT_EQ(findings.verdict, Verdict::kProgramTooLarge);
  EXPECT_EQ(drawn_over(findings, StripKind::kProgram), Range(1000, 5000));
}

TEST(Explain, WhatTheBankHasRoomForIsDrawnWithinIt) {
  using Range = ledger::AddressRange;
  const auto drawn = [](Space space) {
    Scene scene(space);
    return drawn_over(scene.held(1200, 1900, 1).ask(600), StripKind::kNeeded);
  };
  EXPECT_EQ(drawn(Space::kL1), Range(1000, 1600));
  EXPECT_EQ(drawn(Space::kL1Small), Range(600, 1200)) << "its region would begin there";
  EXPECT_EQ(drawn_over(Scene(Space::kDram).held(1000, 1800, 1).ask(300), StripKind::kNeeded),
            Range(1700, 2000));
}

TEST(Explain, FiguresThatCannotBeAreNotDrawn) {
  EXPECT_FALSE(drawn_over(Scene().held(1000, 1100, 1).ask(1u << 20), StripKind::kNeeded));
  EXPECT_FALSE(drawn_over(Scene().held(1900, 2000, 1).grow_to(~0ull), StripKind::kProgram));
  EXPECT_FALSE(drawn_over(Scene().held(1900, 2000, 1).clash(500), StripKind::kProgram));
}

TEST(Explain, NothingIsProvedOnAPictureThatIsCut) {
  Scene scene;
  scene.held(1300, 1700, 1).picture.failed.complete = false;
  const Findings findings = scene.ask(800);
  EXPECT_EQ(findings.verdict, Verdict::kFull) << "the message's figures decide";
  EXPECT_TRUE(findings.cures.empty());
  EXPECT_FALSE(findings.unknown.empty());
}

TEST(Explain, NothingIsProvedWhereThePictureAndTheRuntimeDiffer) {
  Scene scene;
  scene.held(1300, 1700, 1);
  scene.ask(800);
  scene.picture.failed.blocks.front().range.end = 1600;
  const Findings findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_EQ(findings.verdict, Verdict::kFull);
  EXPECT_TRUE(findings.cures.empty());
}

TEST(Explain, BlocksThatOverlapProveNothing) {
  Scene scene;
  scene.held(1300, 1700, 1).held(1600, 1800, 2);
  scene.failure.per_bank = 900;
  scene.failure.message = "Out of Memory: Not enough space to allocate 900 B L1 buffer";
  const Findings findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_EQ(findings.verdict, Verdict::kOther);
  EXPECT_TRUE(findings.cures.empty());
  EXPECT_TRUE(findings.picture.empty());
}

TEST(Explain, OfEqualTensorsTheOldestIsLeastLikelyAnInput) {
  Scene scene;
  scene.held(1000, 1300, 1).held(1300, 1600, 2).held(1600, 1900, 3);
  for (std::size_t i = 0; i < 3; ++i) scene.picture.failed.blocks[i].since = i + 1;
  EXPECT_EQ(find(scene.ask(300), CureKind::kDeallocate)->addresses,
            std::vector<std::uint64_t>{1600})
      << "beside the hole";
  scene.failure.operation = "ttnn.add";
  scene.failure.line = "a.py:9 g";
  const Findings findings = scene.ask(300);
  const Cure* cure = find(findings, CureKind::kDeallocate);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->addresses, std::vector<std::uint64_t>{1000});
  EXPECT_EQ(cure->given, "ttnn.add does not read it");
}

TEST(Explain, OneMoreOfManyAlikeHelpsOnce) {
  Scene scene;
  scene.held(1000, 1300, 1).held(1300, 1600, 1).held(1600, 1900, 1);
  scene.failure.operation = "ttnn.ones";
  scene.failure.line = "a.py:1 f";
  const Findings findings = scene.ask(300);
  ASSERT_FALSE(findings.remarks.empty());
  EXPECT_NE(findings.remarks.front().find("has made 3 such tensors"), std::string::npos);
}

TEST(Explain, L1SmallIsMadeLargerByWhatIsMissing) {
  const Findings findings = Scene(Space::kL1Small).held(1100, 2000, 1).ask(300);
  EXPECT_EQ(findings.verdict, Verdict::kL1Small);
  const Cure* cure = find(findings, CureKind::kL1SmallSize);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->value, 16384u);
  EXPECT_NE(cure->text.find("at least 1200,"), std::string::npos) << "1,000 + 300 - 100";
}

TEST(Explain, UnknownMessagesStayUnknown) {
  Scene scene;
  scene.held(1300, 1700, 1);
  scene.failure.message = "LayerNorm streaming circular buffers require 5 bytes, but only 4";
  const Findings findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_EQ(findings.verdict, Verdict::kOther);
  EXPECT_TRUE(findings.cures.empty());
  EXPECT_FALSE(findings.holders.empty()) << "the picture all the same";
  EXPECT_EQ(explain_failure(scene.failure, nullptr).verdict, Verdict::kOther);
}

TEST(Explain, ThePictureAddsUpToTheBankHoweverManyBlocksThereAre) {
  Scene scene;
  scene.picture.failed.bank = {0, 100000};
  for (std::uint64_t i = 0; i < 1000; ++i)
    scene.held(i * 100, i * 100 + 40 + i % 7, 1 + static_cast<int>(i % 5));
  scene.failure.message = "nothing known";
  const Findings findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_LE(findings.picture.size(), 11u);
  std::uint64_t at = 0, blocks = 0, free = 0;
  for (const Strip& strip : findings.picture) {
    EXPECT_EQ(strip.range.begin, at);
    at = strip.range.end;
    blocks += strip.blocks;
    free += strip.free;
  }
  EXPECT_EQ(at, 100000u);
  EXPECT_EQ(blocks, 1000u);
  EXPECT_EQ(free, *findings.sum.holes);
}

TEST(Explain, OfAnotherUserSaysWhoIsToldWhyAndSendsNobodyToLookForLines) {
  Scene scene;
  scene.held(1000, 1100, 1).ask(950);
  scene.failure.message.clear();
  scene.failure.told_to = "alice";
  for (ledger::HeldOrigin& origin : scene.picture.failed.origins) origin.line.clear();
  const Findings findings = explain_failure(scene.failure, &scene.picture);
  EXPECT_EQ(findings.verdict, Verdict::kOther);
  EXPECT_EQ(findings.headline, "Why is told to alice alone: here is what was held.");
  EXPECT_EQ(findings.unknown.front(), "Lines, and TT-Metal's message, are told to alice alone.");
  for (const std::string& each : findings.unknown) {
    EXPECT_EQ(each.find("doctor"), std::string::npos) << each;
  }
}

}  // namespace
}  // namespace ttmem::explain
