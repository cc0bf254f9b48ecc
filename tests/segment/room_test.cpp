// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>

#include "segment/limits.hpp"

namespace ttmem::segment {
namespace {

TEST(Room, AQuarterIsLeftToOthersButNeverMoreThanAGigabyte) {
  EXPECT_EQ(room_to_leave(16ull << 20), 16ull << 20);
  EXPECT_EQ(room_to_leave(256ull << 20), 64ull << 20);
  EXPECT_EQ(room_to_leave(4ull << 30), 1ull << 30);
  EXPECT_EQ(room_to_leave(256ull << 30), 1ull << 30) << "64 GiB are room enough";
}

}  // namespace
}  // namespace ttmem::segment
