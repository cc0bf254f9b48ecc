// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/admission.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace ttmem::collect {
namespace {

std::vector<Candidate> files_of(std::uint32_t owner, std::size_t count, std::uint64_t bytes = 1) {
  std::vector<Candidate> files(count);
  for (Candidate& each : files) {
    each.file.uid = owner;
    each.file.bytes = bytes;
  }
  return files;
}

std::size_t count_of(std::uint32_t owner, const std::vector<Candidate>& files) {
  return static_cast<std::size_t>(
      std::ranges::count_if(files, [&](const Candidate& each) { return each.file.uid == owner; }));
}

TEST(FairShare, WhatSomeDoNotUseIsForTheOthers) {
  EXPECT_EQ(fair_share({}, 10), ~0ull);
  EXPECT_EQ(fair_share({3, 3}, 10), ~0ull) << "there is enough";
  EXPECT_EQ(fair_share({100, 100}, 10), 5u);
  EXPECT_EQ(fair_share({1, 100, 1}, 10), 8u);
  EXPECT_EQ(fair_share({1, 100, 100}, 11), 5u);
}

TEST(Admission, ManyFilesOfOneLeaveThoseOfOthers) {
  std::vector<Candidate> all = files_of(5001, 1000);
  const std::vector<Candidate> victim = files_of(5002, 3);
  all.insert(all.end(), victim.begin(), victim.end());
  const std::vector<Excess> excesses = admit(all, 50);
  EXPECT_EQ(all.size(), 50u);
  EXPECT_EQ(count_of(5002, all), 3u);
  ASSERT_EQ(excesses.size(), 1u);
  EXPECT_EQ(excesses[0].owner, 5001u);
  EXPECT_EQ(excesses[0].files, 953u);
}

TEST(Admission, WhatIsFollowedIsPreferred) {
  std::vector<Candidate> all = files_of(5001, 10);
  all.back().followed = true;
  admit(all, 1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].followed);
}

TEST(Admission, BytesAreLimitedForStrangersOnly) {
  std::vector<Candidate> all = files_of(5001, 3, kMostBytesOfOne / 2);
  const std::vector<Candidate> own = files_of(::geteuid(), 3, kMostBytesOfOne);
  all.insert(all.end(), own.begin(), own.end());
  admit(all, 1000);
  EXPECT_EQ(count_of(5001, all), 2u);
  EXPECT_EQ(count_of(::geteuid(), all), 3u);
}

}  // namespace
}  // namespace ttmem::collect
