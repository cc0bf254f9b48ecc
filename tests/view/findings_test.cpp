// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "explain/explain.hpp"
#include "view/explain_text.hpp"
#include "view/fit_text.hpp"
#include "view/json_doc.hpp"
#include "view/leaks_text.hpp"
#include "view/live_text.hpp"
#include "view/seeds_snapshot.hpp"

namespace ttmem::view {
namespace {

using Json = nlohmann::ordered_json;
using test::JsonDoc;
using test::kNow;
using test::seeds_snapshot;

constexpr std::uint64_t kSecond = 1'000'000'000;

// L1 of an n150 with two tensors of 20 MiB and holes between them.
ledger::FailurePicture scattered_picture() {
  ledger::FailurePicture picture;
  ledger::SpacePicture& l1 = picture.failed;
  l1.space = ledger::Space::kL1;
  l1.banks = 64;
  l1.alignment = 32;
  l1.bank = {105824, 1499136};
  l1.origins = {{"ttnn.ones", "/home/user/fragmented.py:8 activation", ""}};
  for (const std::uint64_t begin : {188416u, 843776u}) {
    ledger::HeldBlock block;
    block.range = {begin, begin + 327680};
    block.since = kNow - 2 * kSecond;
    l1.blocks.push_back(block);
  }
  return picture;
}

ExplainedFailure scattered() {
  ledger::FailureView failure;
  failure.number = 1;
  failure.kind = "out_of_memory";
  failure.time = kNow - kSecond;
  failure.space = ledger::Space::kL1;
  failure.requested = 31457280;
  failure.per_bank = 491520;
  failure.operation = "ttnn.ones";
  failure.line = "/home/user/fragmented.py:8 activation";
  failure.message =
      "Out of Memory: Not enough space to allocate 31457280 B L1 buffer across 64 banks, where "
      "each "
      "bank needs to store 491520 B, but bank size is 1393312 B (allocated: 655360 B, free: 737952 "
      "B, largest free block: 327680 B)";
  ExplainedFailure explained;
  explained.process.pid = 4711;
  explained.process.name = "python";
  explained.failure = failure;
  const ledger::FailurePicture picture = scattered_picture();
  explained.findings = explain::explain_failure(failure, &picture);
  explained.sources["/home/user/fragmented.py:8 activation"] =
      "return ttnn.ones((mebibytes * 512, 1024),";
  return explained;
}

TEST(Findings, TheDocumentIsWhatItsTableSays) {
  ExplainedFailure explained = scattered();
  const auto complaints = [&] {
    return JsonDoc().complaints(
        Json::parse(explain_json(seeds_snapshot(), explained, JsonLayout::kPretty)), "explain");
  };
  EXPECT_EQ(complaints(), "");
  explained.findings.clash.emplace();
  EXPECT_EQ(complaints(), "");
  explained.findings = explain::explain_failure(explained.failure, nullptr);
  EXPECT_EQ(complaints(), "");
}

// The text of one screen, as docs/how-to/out-of-memory.md shows it.
TEST(Findings, OneScreenSaysEverythingInOrder) {
  const std::string text = explain_text(scattered(), kNow, Style(Ansi{}));
  std::size_t at = 0;
  for (const char* part :
       {"python (4711), failure 1: out_of_memory, 1 s ago in ttnn.ones",
        "Scattered: it needs 491,520 B in each of 64 banks of L1 in one piece; 737,952 B are free,",
        "Sum per bank", "asked 491,520 B   held 655,360 B + holes 737,952 B = 1,393,312 B",
        "One bank, bottom to top", "105,824", "hole",
        "ttnn.ones /home/user/fragmented.py:8 activation", "what was asked for",
        "Who is in the way", "655,360", "What helps, cheapest first", "1. Reallocate",
        "t = ttnn.reallocate(t)", "Deallocate", "return ttnn.ones(", "What is not known"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
}

TEST(Findings, WhatCannotBeExplainedIsRepeated) {
  ExplainedFailure explained = scattered();
  explained.failure.message = "LayerNorm streaming circular buffers require 5 bytes\x1b";
  const ledger::FailurePicture picture = scattered_picture();
  explained.findings = explain::explain_failure(explained.failure, &picture);
  const std::string text = explain_text(explained, kNow, Style(Ansi{}));
  EXPECT_NE(text.find("TT-Metal said: LayerNorm streaming circular buffers require 5 bytes"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(explain_text(scattered(), kNow, Style(Ansi{})).find("TT-Metal said"),
            std::string::npos);
}

TEST(Findings, AHintIsTheVerdictAndTheFirstCure) {
  const std::string text = hint_text(scattered(), Style(Ansi{}));
  EXPECT_NE(text.find("ttmem: Scattered"), std::string::npos);
  EXPECT_NE(text.find("1. Reallocate"), std::string::npos);
  EXPECT_EQ(text.find("2. "), std::string::npos);
  EXPECT_NE(text.find("ttmem explain --pid 4711 1 shows the rest."), std::string::npos);
}

// A process may call itself anything.
TEST(Findings, WordsOfStrangersAreMadePrintable) {
  ExplainedFailure explained = scattered();
  explained.process.name = "\x1b[2J";
  explained.findings.cures.front().text = "\x1b[31m";
  explained.findings.holders.front().origin.line = "\x1b[32m";
  EXPECT_EQ(explain_text(explained, kNow, Style(Ansi{})).find('\x1b'), std::string::npos);
}

// The same L1, and a program that ends below its lowest buffer.
ExplainedDevice device_now() {
  explain::SpaceToday today;
  today.picture = scattered_picture().failed;
  today.picture.programs.push_back(
      {7, "Softmax", "/home/user/a.py:9 f", "0,0-7,7", 150000, {}, 1, 1});
  ledger::ProcessName process;
  process.pid = 4711;
  process.name = "python";
  ExplainedProcess one;
  one.process = std::make_shared<const ledger::ProcessName>(process);
  one.findings = explain::explain_live({today}, kNow);
  return {3, {one}};
}

TEST(Findings, ADeviceAsItIsNowIsWhatItsTableSays) {
  ExplainedDevice device = device_now();
  const auto complaints = [&] {
    return JsonDoc().complaints(
        Json::parse(live_json(seeds_snapshot(), device, JsonLayout::kPretty)), "live");
  };
  EXPECT_EQ(complaints(), "");
  explain::LiveFindings& findings = device.processes.front().findings;
  ASSERT_FALSE(findings.moves.empty());
  findings.spaces.front().growth = explain::Growth{4, 100, 1, 2};
  findings.spaces.front().full_after = 5;
  findings.next->clash_after = 6;
  EXPECT_EQ(complaints(), "");
  findings.next.reset();
  findings.spaces.front().sum.held.reset();
  EXPECT_EQ(complaints(), "");
}

TEST(Findings, ADeviceAsItIsNowIsTold) {
  const std::string text = live_text(device_now(), kNow, Style(Ansi{}));
  std::size_t at = 0;
  for (const char* part :
       {"Device 3 as python (4711) has it now", "Nothing is about to fail, as far as it is known.",
        "How full, in each bank", "1,393,312  655,360", "What would fail next",
        "Softmax of /home/user/a.py:9 f on cores 0,0-7,7: its L1 ends", "38,416 B", "Who holds L1",
        "What to move", "1. Reallocate", "What is not known"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
  EXPECT_NE(live_text({5, {}}, kNow, Style(Ansi{})).find("ttmem run"), std::string::npos);
}

explain::LeakReport leaking() {
  const auto process = std::make_shared<const ledger::ProcessName>();
  explain::LeakReport report;
  report.steps = 12;
  report.steps_from = "marks";
  report.processes = {{process, 12, 11, true, true}};
  explain::LeakSuspect suspect;
  suspect.process = process;
  suspect.space = ledger::Space::kL1;
  suspect.origin = {"ttnn.add", "\x1b[31mmodel.py:81 forward", ""};
  suspect.block = 64;
  suspect.count = 9;
  suspect.blocks_per_step = 1;
  suspect.bytes_per_step = 64;
  suspect.taken_per_step = 4096;
  suspect.steps_until_full = 12000;
  suspect.oldest = kNow - 3 * kSecond;
  report.suspects = {suspect};
  report.falling = {{process, 0, 1000000, 999360, 64}};
  report.caches = {{process, 0, 40, 3}};
  return report;
}

TEST(Findings, WhatGrowsIsWhatItsTableSays) {
  const auto complaints = [](const explain::LeakReport& report) {
    return JsonDoc().complaints(
        Json::parse(leaks_json(seeds_snapshot(), report, JsonLayout::kPretty)), "leaks");
  };
  EXPECT_EQ(complaints(leaking()), "");
  EXPECT_EQ(complaints({}), "");
}

TEST(Findings, WhatGrowsIsTold) {
  explain::LeakReport report = leaking();
  std::string text = leaks_text(report, kNow, Style(Ansi{}));
  std::size_t at = 0;
  for (const char* part : {"12 steps, marked", "Grows from step to step", "4.0 KiB", "12000 steps",
                           "model.py:81 forward", "falls by 64 B per step",
                           "New programs in the cache", "3.0 per step"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  report.suspects.clear();
  report.falling.clear();
  report.caches.clear();
  EXPECT_NE(leaks_text(report, kNow, Style(Ansi{})).find("Nothing grows"), std::string::npos);
  report.processes[0].is_known = false;
  text = leaks_text(report, kNow, Style(Ansi{}));
  EXPECT_NE(text.find("too few to tell"), std::string::npos);
  EXPECT_EQ(text.find("Nothing grows"), std::string::npos) << "that is not known";
  EXPECT_NE(leaks_text({}, kNow, Style(Ansi{})).find("No steps were seen"), std::string::npos);
}

FitAnswer answer() {
  explain::FitTarget target = explain::empty_target(explain::boards().front(), 0, 0);
  target.l1.programs.push_back({1, "matmul", "a.py:1", "", 1400000, {}, 1, 1});
  explain::TensorSpec tensor;
  tensor.shape = {32, 512, 1024};
  explain::TensorSpec wrong = tensor;
  wrong.shape = {0};
  explain::TensorSpec l1 = tensor;
  l1.space = ledger::Space::kL1;
  return {target.device, true, 2, explain::fit({tensor, wrong, l1}, target), "batch", 7};
}

TEST(Findings, WhatFitsIsWhatItsTableSays) {
  EXPECT_EQ(JsonDoc().complaints(
                Json::parse(fit_json(seeds_snapshot(), answer(), JsonLayout::kPretty)), "fit"),
            "");
}

TEST(Findings, WhatFitsAsText) {
  const std::string text = fit_text(answer(), Style(Ansi{}));
  for (const char* part :
       {"Does not fit into an empty n150, on each of 2 chips", "Largest batch that fits: 7",
        "at least 1", "L1: asked 524,288 B of 1,393,312 free in each of 64 banks"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(text.find("matmul a.py:1: needs L1 up to 1,400,000"), std::string::npos);
}

}  // namespace
}  // namespace ttmem::view
