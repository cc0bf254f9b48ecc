// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "top/listing.hpp"

namespace ttmem::top {
namespace {

using Lines = std::vector<std::string_view>;

TEST(Wrapping, BreaksAtSpacesAndLineEnds) {
  EXPECT_EQ(wrapped("not enough space", 10, 9), (Lines{"not enough", "space"}));
  EXPECT_EQ(wrapped("not enough space", 12, 9), (Lines{"not enough", "space"}));
  EXPECT_EQ(wrapped("one\ntwo", 10, 9), (Lines{"one", "two"}));
  EXPECT_EQ(wrapped("fits", 4, 9), (Lines{"fits"}));
  EXPECT_EQ(wrapped("", 4, 9), Lines{});
}

TEST(Wrapping, AWordThatIsTooLongIsBroken) {
  EXPECT_EQ(wrapped("0123456789", 4, 9), (Lines{"0123", "4567", "89"}));
  EXPECT_EQ(wrapped("0123456789", 4, 2), (Lines{"0123", "4567"}));
}

TEST(Wrapping, WideCharactersStayWhole) {
  EXPECT_EQ(wrapped("推論サーバ", 5, 9), (Lines{"推論", "サー", "バ"}));
  EXPECT_EQ(wrapped("推論", 1, 9), (Lines{"推", "論"}));  // narrower than any of them
}

}  // namespace
}  // namespace ttmem::top
