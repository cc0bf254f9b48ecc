// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "serve/http/deltas.hpp"

namespace ttmem::serve::http {
namespace {

TEST(CoreLevels, NothingIsTheLowestAndOnlyNothing) {
  constexpr std::uint64_t kBytes = 1'393'472;
  EXPECT_EQ(level_of({{}, 0, kBytes}), 'A');
  EXPECT_EQ(level_of({{}, 1, kBytes}), 'B');
  EXPECT_EQ(level_of({{}, kBytes / 2, kBytes}), 'g');
  EXPECT_EQ(level_of({{}, kBytes, kBytes}), '/');
  EXPECT_EQ(level_of({{}, 3 * kBytes, kBytes}), '/');  // two processes that claim the same
  EXPECT_EQ(level_of({{}, 5, 0}), '.');
}

}  // namespace
}  // namespace ttmem::serve::http
