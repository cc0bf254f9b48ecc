// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/history.hpp"

#include <gtest/gtest.h>

namespace ttmem::top {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kNow = 1'000'000 * kSecondNs;

ledger::Snapshot snapshot(std::uint64_t time, std::uint64_t dram) {
  ledger::Snapshot now;
  now.time = time;
  now.devices.resize(1);
  now.devices[0].unique_id = 7;
  now.devices[0].figures.space(ledger::Space::kDram).taken = dram;
  return now;
}

TEST(History, WhatADaemonRemembersComesBeforeTheFirstSnapshot) {
  History history;
  const std::vector<PastMoment> remembered = {
      {.unique_id = 7, .time = kNow - 60 * kSecondNs, .dram = 100, .l1 = 5},
      {.unique_id = 9, .time = kNow - 60 * kSecondNs, .dram = 30, .l1 = 0},
      {.unique_id = 7, .time = kNow - 30 * kSecondNs, .dram = 200, .l1 = 6}};
  history.recall(remembered);
  history.add(snapshot(kNow, 300));
  // Two minutes in 12 columns: ten seconds each, the last one is now.
  const auto dram = history.device(7)->dram.columns(12);
  ASSERT_EQ(dram.size(), 12u);
  EXPECT_FALSE(dram[0].has_value());
  EXPECT_EQ(dram[6], 100u);
  EXPECT_EQ(dram[7], 100u);
  EXPECT_EQ(dram[9], 200u);
  EXPECT_EQ(dram[11], 300u);
  EXPECT_EQ(history.device(7)->l1.largest(), 6u);
  EXPECT_EQ(history.total().dram.columns(12)[6], 130u);
  EXPECT_EQ(history.device(9), nullptr) << "it is gone by now";
}

TEST(History, NothingRememberedIsNothingShown) {
  History history;
  history.recall({});
  history.add(snapshot(kNow, 300));
  EXPECT_FALSE(history.device(7)->dram.columns(12)[10].has_value());
  EXPECT_EQ(history.device(7)->dram.columns(12)[11], 300u);
}

TEST(History, AStateThatStaysIsHeldAndAnyOtherIsSeenAtOnce) {
  History history;
  constexpr std::uint64_t kState = 5;
  history.add(snapshot(kNow, 300), kState);
  history.add(snapshot(kNow + kSecondNs / 10, 300), kState);
  history.add(snapshot(kNow + kSecondNs / 5, 400), kState + 1);
  EXPECT_EQ(history.device(7)->dram.largest(), 400u) << "in the same half second";
  history.add(snapshot(kNow + kSecondNs * 20, 400), kState + 1);
  const auto dram = history.device(7)->dram.columns(12);
  EXPECT_EQ(dram[9], 400u);
  EXPECT_EQ(dram[11], 400u) << "time goes on without news";
}

}  // namespace
}  // namespace ttmem::top
