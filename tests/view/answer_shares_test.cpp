// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/answer_shares.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "view/json.hpp"

namespace ttmem::view {
namespace {

using Json = nlohmann::ordered_json;

ledger::ProcessView process(std::uint64_t key, std::uint32_t uid) {
  ledger::ProcessView view;
  view.key = key;
  view.uid = uid;
  return view;
}

TEST(AnswerShares, OneOwnerDoesNotPushOthersOut) {
  AnswerShares shares(1000);
  shares.add(process(1, 100));
  shares.add(process(2, 100));
  shares.add(process(3, 200));
  int taken = 0;
  for (std::uint64_t i = 0; i < 20; ++i) taken += shares.take(1 + i % 2, 100);
  EXPECT_EQ(taken, 5);
  EXPECT_TRUE(shares.take(3, 500));
  EXPECT_FALSE(shares.take(3, 1));
  EXPECT_EQ(shares.left_out(), 16u);
}

TEST(AnswerShares, WhatDoesNotFitIsCountedInTheDocument) {
  AnswerShares shares(10'000);
  std::vector<ledger::ProgramView> programs;
  for (std::uint64_t key : {1, 2}) {
    shares.add(process(key, static_cast<std::uint32_t>(key)));
    const auto owner = std::make_shared<ledger::ProcessName>();
    owner->key = key;
    for (std::uint64_t i = 0; i < (key == 1 ? 100u : 1u); ++i) {
      programs.emplace_back().process = owner;
      programs.back().id = 1000 * key + i;
      programs.back().name = std::string(500, 'x');
    }
  }
  const std::string text = programs_json({}, programs, JsonLayout::kCompact, &shares);
  EXPECT_LT(text.size(), 11'000u);
  const Json document = Json::parse(text);
  EXPECT_EQ(document["left_out"], 101 - document["programs"].size());
  EXPECT_EQ(document["programs"].back()["id"], "0x7d0") << "the other owner's is there";
  EXPECT_EQ(Json::parse(programs_json({}, programs, JsonLayout::kCompact))["left_out"], 0);
}

}  // namespace
}  // namespace ttmem::view
