// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/leaks.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include <gtest/gtest.h>

#include "explain/free_list.hpp"

namespace ttmem::explain {
namespace {

using ledger::Space;

// A decoder: every step it makes activations of several lines, and frees them
// in the next one.
class Decoder {
 public:
  Decoder() : process_(std::make_shared<ledger::ProcessName>()) {
    space_.space = Space::kL1;
    space_.banks = 64;
    space_.bank = {0, 1 << 20};
    for (int line = 0; line < 8; ++line) {
      space_.origins.push_back({"ttnn.add", "model.py:" + std::to_string(line), ""});
    }
    for (int i = 0; i < 3; ++i) hold(7, 4096, 0);  // weights
  }
  void step(std::uint64_t leaked_bytes = 0, bool with_mark = true) {
    now_ += 1000;
    if (with_mark) watch.steps_of(process_).mark(now_);
    drop_activations();
    for (std::uint32_t line = 0; line < 6; ++line) {
      hold(line, 1024, ++now_);
      if (!with_mark) watch.steps_of(process_).allocated(line, now_);
    }
    if (leaked_bytes > 0) hold(6, leaked_bytes, ++now_);
    if (leaked_bytes > 0 && !with_mark) watch.steps_of(process_).allocated(6, now_);
    look();
  }
  void look() {
    auto sorted = space_;
    std::ranges::sort(sorted.blocks, {}, &ledger::HeldBlock::range);
    if (!watch.is_due(process_)) return;
    for (std::uint32_t device = 0; device < devices; ++device) {
      watch.look({process_, device, {sorted}});
    }
  }
  void add_program() { space_.programs.emplace_back(); }

  LeakWatch watch;
  std::uint32_t devices = 1;

 private:
  void hold(std::uint32_t line, std::uint64_t bytes, ledger::TimeNs since) {
    std::vector<ledger::AddressRange> held;
    for (const auto& block : space_.blocks) held.push_back(block.range);
    std::ranges::sort(held);
    ledger::HeldBlock block;
    block.range = FreeList(Space::kL1, space_.bank, held).place(bytes).value();
    block.origin = line;
    block.since = since;
    space_.blocks.push_back(block);
  }
  void drop_activations() {
    std::erase_if(space_.blocks, [](const auto& block) { return block.origin < 6; });
  }

  ledger::Owner process_;
  ledger::SpacePicture space_;
  ledger::TimeNs now_ = 1000;
};

// No suspects, as they do not grow from step to step by one block; but nobody may say that nothing
// grows.
TEST(Leaks, ALeakInEveryThirdStepAndOneOfManySizesAreTold) {
  for (const bool sizes : {false, true}) {
    Decoder decoder;
    for (std::uint64_t i = 0; i < 40; ++i) decoder.step(sizes ? 64 + i * 64 : i % 3 == 0 ? 64 : 0);
    const LeakReport report = decoder.watch.report();
    EXPECT_TRUE(report.suspects.empty()) << sizes;
    ASSERT_EQ(report.lines.size(), 1u) << sizes;
    EXPECT_EQ(report.lines.front().origin.line, "model.py:6");
    EXPECT_GT(report.lines.front().taken, 8u * 64 * 64);
    EXPECT_GT(report.lines.front().steps, 30u);
  }
}

TEST(Leaks, ACacheThatIsWarmAfterHalfOfTheTimeIsNoGrowth) {
  Decoder decoder;
  for (int i = 0; i < 60; ++i) decoder.step(i % 3 == 0 && i < 24 ? 64 : 0);
  EXPECT_TRUE(decoder.watch.report().lines.empty());
}

TEST(Leaks, ADecoderWithoutALeakGivesNoneInAThousandSteps) {
  Decoder decoder;
  for (int i = 0; i < 1000; ++i) {
    decoder.step();
    const LeakReport report = decoder.watch.report();
    ASSERT_TRUE(report.suspects.empty()) << "step " << i;
    ASSERT_TRUE(report.falling.empty()) << "step " << i;
    ASSERT_TRUE(report.caches.empty()) << "step " << i;
    ASSERT_TRUE(report.lines.empty()) << "step " << i;
  }
  EXPECT_EQ(decoder.watch.report().steps, 1000u);
  EXPECT_EQ(decoder.watch.report().steps_from, "marks");
}

TEST(Leaks, APlantedLeakOf64BytesNamesItsLine) {
  for (const bool marked : {true, false}) {
    Decoder decoder;
    for (int i = 0; i < 60; ++i) decoder.step(64, marked);
    const LeakReport report = decoder.watch.report();
    ASSERT_EQ(report.suspects.size(), 1u) << marked;
    EXPECT_EQ(report.suspects[0].origin.line, "model.py:6");
    EXPECT_EQ(report.suspects[0].block, 64u);
    EXPECT_DOUBLE_EQ(report.suspects[0].bytes_per_step, 64);
    EXPECT_TRUE(report.suspects[0].steps_until_full);
    EXPECT_EQ(report.steps_from, marked ? "marks" : "sequence");
    ASSERT_EQ(report.falling.size(), 1u) << "the lowest L1 address falls with it";
    EXPECT_DOUBLE_EQ(report.falling[0].bytes_per_step, 64);
  }
}

// Each look tells times anew, some nanoseconds apart.
TEST(Leaks, ABlockThatBeginsAStepIsOnOneSideOfItAtEveryLook) {
  LeakWatch watch;
  const auto process = std::make_shared<const ledger::ProcessName>();
  ledger::SpacePicture space;
  space.space = Space::kDram;
  space.banks = 12;
  space.bank = {0, 1 << 20};
  space.origins = {{"ttnn.add", "model.py:3", ""}};
  ledger::TimeNs now = 1000;
  for (std::uint64_t step = 0; step < 30; ++step) {
    for (std::uint64_t line = 0; line < 4; ++line) {
      watch.steps_of(process).allocated(line, now += 1000);
    }
    ledger::HeldBlock block;
    block.range = {step * 64, step * 64 + 64};
    block.since = now;
    space.blocks.push_back(block);
    auto told = space;
    for (auto& each : told.blocks) each.since -= step % 2;
    if (watch.is_due(process)) watch.look({process, 0, {told}});
  }
  ASSERT_EQ(watch.report().suspects.size(), 1u);
  EXPECT_DOUBLE_EQ(watch.report().suspects[0].blocks_per_step, 1);
}

// Somebody may ask after any step.
TEST(Leaks, ALeakOnAllDevicesIsNamedOnAllOfThemFromTheSameStepOn) {
  Decoder decoder;
  decoder.devices = 8;
  for (int i = 0; i < 30; ++i) {
    decoder.step(64);
    const LeakReport report = decoder.watch.report();
    ASSERT_EQ(report.suspects.size(), report.processes[0].is_known ? 8u : 0u) << "step " << i;
  }
}

TEST(Leaks, SaysOfWhomItKnowsEnough) {
  Decoder decoder;
  for (int i = 0; i < 9; ++i) decoder.step(64);
  ASSERT_EQ(decoder.watch.report().processes.size(), 1u);
  EXPECT_FALSE(decoder.watch.report().processes[0].is_known);
  decoder.step(64);
  EXPECT_TRUE(decoder.watch.report().processes[0].is_known);
  EXPECT_EQ(decoder.watch.report().processes[0].steps, 10u);
}

TEST(Leaks, MarksThatComeLaterBeginAnew) {
  Decoder decoder;
  for (int i = 0; i < 60; ++i) decoder.step(64, false);
  EXPECT_EQ(decoder.watch.report().steps_from, "sequence");
  for (int i = 0; i < 5; ++i) decoder.step(64);
  EXPECT_TRUE(decoder.watch.report().suspects.empty()) << "too few of them yet";
  for (int i = 0; i < 5; ++i) decoder.step(64);
  EXPECT_EQ(decoder.watch.report().steps_from, "marks");
  EXPECT_EQ(decoder.watch.report().steps, 10u);
  EXPECT_EQ(decoder.watch.report().suspects.size(), 1u);
}

TEST(Leaks, WhoEndedIsForgotten) {
  Decoder decoder;
  for (int i = 0; i < 12; ++i) decoder.step(64);
  decoder.watch.keep_only({});
  EXPECT_TRUE(decoder.watch.report().processes.empty());
  EXPECT_TRUE(decoder.watch.report().suspects.empty());
  EXPECT_TRUE(decoder.watch.report().falling.empty());
}

TEST(Leaks, TenMarkedStepsAreEnough) {
  Decoder decoder;
  for (int i = 0; i < 10; ++i) decoder.step(64);
  EXPECT_EQ(decoder.watch.report().suspects.size(), 1u);
}

TEST(Leaks, ALeakThatEndedIsNoLongerSuspected) {
  Decoder decoder;
  for (int i = 0; i < 20; ++i) decoder.step(64);
  for (int i = 0; i < 10; ++i) decoder.step();
  EXPECT_TRUE(decoder.watch.report().suspects.empty());
}

TEST(Leaks, NewProgramsAreAClassOfTheirOwn) {
  Decoder decoder;
  for (int i = 0; i < 12; ++i) {
    for (int programs = 0; programs < 3; ++programs) decoder.add_program();
    decoder.step();
  }
  const LeakReport report = decoder.watch.report();
  EXPECT_TRUE(report.suspects.empty());
  ASSERT_EQ(report.caches.size(), 1u);
  EXPECT_DOUBLE_EQ(report.caches[0].programs_per_step, 3);
}

TEST(Steps, AreFoundWhereASequenceRepeatsAndInnerLoopsAreNot) {
  StepFinder finder;
  ledger::TimeNs now = 0;
  for (std::uint64_t weight = 100; weight < 140; ++weight) finder.allocated(weight, ++now);
  for (int token = 0; token < 40; ++token) {
    for (int layer = 0; layer < 4; ++layer) {
      for (std::uint64_t operation = 1; operation <= 5; ++operation)
        finder.allocated(operation, ++now);
    }
    finder.allocated(9, ++now);
  }
  ASSERT_GE(finder.begins().size(), 10u);
  for (std::size_t i = finder.begins().size() - 8; i < finder.begins().size(); ++i) {
    EXPECT_EQ(finder.begins()[i] - finder.begins()[i - 1], 21u)
        << "four layers and the end of a token";
  }
}

}  // namespace
}  // namespace ttmem::explain
