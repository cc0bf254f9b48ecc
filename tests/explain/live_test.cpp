// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/live.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ttmem::explain {
namespace {

using ledger::HeldBlock;
using ledger::Space;

constexpr ledger::TimeNs kSecond = 1'000'000'000;

// A bank of L1 from 1,000 to 2,000.
SpaceToday l1() {
  SpaceToday today;
  today.picture.space = Space::kL1;
  today.picture.banks = 64;
  today.picture.alignment = 1;
  today.picture.bank = {1000, 2000};
  return today;
}

void hold(SpaceToday& today, std::uint64_t begin, std::uint64_t end, int line) {
  HeldBlock block;
  block.range = {begin, end};
  block.origin = static_cast<std::uint32_t>(today.picture.origins.size());
  today.picture.origins.push_back({"ttnn.ones", fmt::format("a.py:{} f", line), ""});
  today.picture.blocks.push_back(block);
}

void run(SpaceToday& today, std::uint64_t end) {
  ledger::HeldProgram program;
  program.name = "Softmax";
  program.line = "a.py:9 f";
  program.end = end;
  today.picture.programs.push_back(program);
}

TEST(Live, SaysHowFullAndHowScattered) {
  SpaceToday today = l1();
  hold(today, 1200, 1300, 1);
  hold(today, 1500, 1900, 2);
  const LiveFindings findings = explain_live({today}, kSecond);
  const SpaceNow& space = findings.spaces.at(0);
  EXPECT_EQ(space.sum.held, 500u);
  EXPECT_EQ(space.sum.holes, 500u);
  EXPECT_EQ(space.sum.largest_hole, 200u);
  EXPECT_EQ(space.holes, 3u);
  EXPECT_DOUBLE_EQ(*space.scattered, 0.6);
  EXPECT_EQ(space.lowest_buffer, 1200u);
  EXPECT_FALSE(findings.next);
  // 1200..1300 moves to the end of the highest hole; 1000..1500 is one hole then.
  ASSERT_FALSE(findings.moves.empty());
  EXPECT_EQ(findings.moves.front().kind, CureKind::kReallocate);
  EXPECT_EQ(findings.moves.front().line, "a.py:1 f");
}

TEST(Live, TheLargestProgramAgainstTheLowestBuffer) {
  SpaceToday today = l1();
  hold(today, 1500, 1600, 1);
  hold(today, 1800, 2000, 2);
  run(today, 1100);
  run(today, 1450);
  LiveFindings findings = explain_live({today}, kSecond);
  ASSERT_TRUE(findings.next);
  EXPECT_EQ(findings.next->headroom, 50);
  EXPECT_EQ(findings.next->region_end, 1450u);
  EXPECT_NE(findings.headline.find("Nothing is about to fail"), std::string::npos);

  run(today, 1700);
  findings = explain_live({today}, kSecond);
  EXPECT_EQ(findings.next->headroom, -200);
  EXPECT_NE(findings.headline.find("The next launch of Softmax (a.py:9 f) clashes"),
            std::string::npos)
      << findings.headline;
  // 1500..1600 can move to 1700..1800, which is just above the program.
  ASSERT_FALSE(findings.moves.empty());
  EXPECT_EQ(findings.moves.front().kind, CureKind::kReallocate);
  EXPECT_EQ(findings.moves.front().to_spare, 0u);
}

// One more block of 10 each time below the one before, and one that comes and goes.
SpaceToday growing(bool leaks, ledger::TimeNs apart = kSecond) {
  SpaceToday today = l1();
  for (std::uint64_t i = 0; i < 40; ++i) {
    const ledger::TimeNs time = (i + 1) * apart;
    const std::uint64_t top = 2000 - (leaks ? i * 10 : 0);
    today.changes.push_back({time, true, {top - 10, top}});
    if (!leaks) today.changes.push_back({time + apart / 2, false, {top - 10, top}});
  }
  if (!leaks) return today;
  for (std::uint64_t i = 40; i-- > 0;) hold(today, 1990 - i * 10, 2000 - i * 10, 1);
  return today;
}

TEST(Live, ForecastsFromWhatHappenedLately) {
  SpaceToday today = growing(true);
  run(today, 1400);
  const LiveFindings findings = explain_live({today}, 41 * kSecond);
  ASSERT_TRUE(findings.spaces.at(0).growth);
  EXPECT_NEAR(findings.spaces.at(0).growth->held_per_second, 10, 0.5);
  EXPECT_NEAR(findings.spaces.at(0).growth->fall_per_second, 10, 0.5);
  EXPECT_NEAR(*findings.spaces.at(0).full_after, 60, 5);
  EXPECT_EQ(findings.next->headroom, 200);
  EXPECT_NEAR(*findings.next->clash_after, 20, 2);
  EXPECT_NE(findings.headline.find("(a.py:9 f) clashes in 2"), std::string::npos)
      << findings.headline;
}

TEST(Live, ALongTimeIsSaidInMinutes) {
  const LiveFindings findings = explain_live({growing(true, 20 * kSecond)}, 820 * kSecond);
  EXPECT_GT(*findings.spaces.at(0).full_after, 600);
  EXPECT_NE(findings.headline.find(" is full in "), std::string::npos) << findings.headline;
  EXPECT_NE(findings.headline.find(" m "), std::string::npos) << findings.headline;
}

TEST(Live, WhatComesAndGoesDoesNotGrow) {
  const LiveFindings findings = explain_live({growing(false)}, 41 * kSecond);
  ASSERT_TRUE(findings.spaces.at(0).growth);
  EXPECT_EQ(findings.spaces.at(0).growth->held_per_second, 0);
  EXPECT_FALSE(findings.spaces.at(0).full_after);
}

TEST(Live, ChangesThatDoNotLeadHereSayNothing) {
  SpaceToday today = growing(true);
  today.picture.blocks.pop_back();
  EXPECT_FALSE(explain_live({today}, 41 * kSecond).spaces.at(0).growth);
  today = growing(true);
  today.changes.resize(3);
  EXPECT_FALSE(explain_live({today}, 41 * kSecond).spaces.at(0).growth);
}

TEST(Live, AListPerCoreGivesNoFiguresAndNoMoves) {
  SpaceToday today = l1();
  hold(today, 1500, 1600, 1);
  today.picture.per_core = true;
  const LiveFindings findings = explain_live({today}, kSecond);
  EXPECT_FALSE(findings.spaces.at(0).sum.held);
  EXPECT_TRUE(findings.moves.empty());
  EXPECT_FALSE(findings.unknown.empty());
}

}  // namespace
}  // namespace ttmem::explain
