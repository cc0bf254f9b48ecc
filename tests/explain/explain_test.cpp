// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/explain.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ttmem::explain {
namespace {

using ledger::FailurePicture;
using ledger::FailureView;
using ledger::HeldBlock;
using ledger::HeldKind;
using ledger::Space;

// A bank of 1,000 with blocks from lines a.py:1, a.py:2, …
class Scene {
 public:
  explicit Scene(Space space = Space::kL1) {
    picture.failed.space = space;
    picture.failed.banks = 64;
    picture.failed.alignment = 1;
    picture.failed.bank = {1000, 2000};
    failure.space = space;
    failure.kind = "out_of_memory";
  }
  Scene& held(std::uint64_t begin, std::uint64_t end, int line, HeldKind kind = HeldKind::kBuffer) {
    while (static_cast<int>(picture.failed.origins.size()) < line) {
      const auto number = picture.failed.origins.size() + 1;
      picture.failed.origins.push_back({"ttnn.ones", fmt::format("a.py:{} f", number), ""});
    }
    HeldBlock block;
    block.range = {begin, end};
    block.id = begin;
    block.origin = static_cast<std::uint32_t>(line - 1);
    block.kind = kind;
    picture.failed.blocks.push_back(block);
    return *this;
  }
  // With the figures that the runtime would have said.
  Findings ask(std::uint64_t per_bank) {
    std::uint64_t taken = 0, largest = 0, at = 1000;
    for (const HeldBlock& block : picture.failed.blocks) {
      taken += block.range.end - block.range.begin;
      largest = std::max(largest, block.range.begin - at);
      at = block.range.end;
    }
    largest = std::max(largest, 2000 - at);
    const char* word = failure.space == Space::kL1Small ? "L1_SMALL" : "L1";
    failure.message = fmt::format(
        "Out of Memory: Not enough space to allocate {} B {} buffer across 64 banks, where each "
        "bank "
        "needs to store {} B, but bank size is 1000 B (allocated: {} B, free: {} B, largest free "
        "block: {} B)",
        per_bank * 64, word, per_bank, taken, 1000 - taken, largest);
    failure.per_bank = per_bank;
    return explain_failure(failure, &picture);
  }
  Findings grow_to(std::uint64_t end) {
    failure.kind = "cb_clash";
    failure.message = fmt::format(
        "Statically allocated circular buffers on core range [0-0 - 7-7] grow to {} B which is "
        "beyond max L1 size of 2000 B",
        end);
    return explain_failure(failure, &picture);
  }
  Findings clash(std::uint64_t end) {
    failure.kind = "cb_clash";
    failure.message = fmt::format(
        "Statically allocated circular buffers in program 1 clash with L1 buffers on core range "
        "[0-0 "
        "- 7-7]. L1 buffer allocated at {} and static circular buffer region ends at {}",
        picture.failed.blocks.front().range.begin, end);
    return explain_failure(failure, &picture);
  }

  FailureView failure;
  FailurePicture picture;
};

const Cure* find(const Findings& findings, CureKind kind) {
  const auto found = std::ranges::find(findings.cures, kind, &Cure::kind);
  return found == findings.cures.end() ? nullptr : &*found;
}

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

// L1 from 100,000 on, as large as it is.
Scene wide_l1() {
  Scene scene;
  scene.picture.failed.bank = {100'000, 1'000'000};
  scene.picture.failed.unreserved_base = 100'000;
  scene.picture.dram = scene.picture.failed;
  scene.picture.dram->space = Space::kDram;
  scene.picture.dram->bank = {0, 1u << 30};
  return scene;
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
  EXPECT_EQ(find(tight, CureKind::kMoveToDram)->text.substr(0, 22), "Or make it in DRAM: th");
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
  EXPECT_LE(findings.picture.size(), 25u);
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
