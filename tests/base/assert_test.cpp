// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "base/assert.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace ttmem {
namespace {

TEST(AssertDeathTest, SaysWhatAndWhere) {
  const int held = 1;
  EXPECT_DEATH(TTMEM_CHECK(held == 2), "please report it: .*assert_test.cpp:[0-9]+: held == 2");
}

TEST(Assert, WhatHoldsDoesNothing) {
  int looks = 0;
  TTMEM_CHECK(++looks == 1);
  EXPECT_EQ(looks, 1);
}

TEST(Assert, TheExpensiveOnesAreLeftOutOfTheReleaseBuild) {
  int looks = 0;
  TTMEM_DCHECK(++looks > 0);
#ifdef NDEBUG
  EXPECT_EQ(looks, 0);
#else
  EXPECT_EQ(looks, 1);
#endif
}

TEST(AssertDeathTest, AResultIsLookedAtBeforeItIsTaken) {
  const Result<int> failed = Error{ErrorCode::kNotFound, "gone"};
  EXPECT_EQ(failed.error().message, "gone");
  EXPECT_DEATH(static_cast<void>(*failed), "please report it");
  const Result<int> good = 7;
  EXPECT_EQ(*good, 7);
  EXPECT_DEATH(static_cast<void>(good.error()), "please report it");
}

}  // namespace
}  // namespace ttmem
