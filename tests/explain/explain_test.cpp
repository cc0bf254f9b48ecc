// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/explain.hpp"

#include <algorithm>
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

TEST(Explain, KernelBinariesAreNotDeallocatedByHand) {
  const Findings findings = Scene().held(1000, 2000, 1, HeldKind::kKernelBinaries).ask(400);
  EXPECT_EQ(find(findings, CureKind::kDeallocate), nullptr);
  const Cure* cure = find(findings, CureKind::kClearProgramCache);
  ASSERT_NE(cure, nullptr);
  EXPECT_EQ(cure->hole, 1000u);
}

TEST(Explain, TooLargeIsNeverCuredByFreeing) {
  const Findings findings = Scene().held(1000, 1100, 1).ask(4096);
  EXPECT_EQ(findings.verdict, Verdict::kTooLarge);
  EXPECT_EQ(find(findings, CureKind::kDeallocate), nullptr);
  EXPECT_EQ(find(findings, CureKind::kReallocate), nullptr);
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

}  // namespace
}  // namespace ttmem::explain
