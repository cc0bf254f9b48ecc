// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/units.hpp"

#include <gtest/gtest.h>

namespace ttmem::legacy {
namespace {

TEST(Units, PrintAsTheOriginalDid) {
  struct Row {
    std::uint64_t bytes;
    const char* megabytes;
    const char* kilobytes;
  };
  for (const Row& row : std::initializer_list<Row>{{0, "0", "0"},
                                                   {64, "6.10352e-05", "0.0625"},
                                                   {36864, "0.0351562", "36"},
                                                   {47104, "0.0449219", "46"},
                                                   {57344, "0.0546875", "56"},
                                                   {94208, "0.0898438", "92"},
                                                   {131072, "0.125", "128"},
                                                   {208896, "0.199219", "204"},
                                                   {262144, "0.25", "256"},
                                                   {339968, "0.324219", "332"},
                                                   {917504, "0.875", "896"},
                                                   {1011712, "0.964844", "988"},
                                                   {8192000, "7.8125", "8000"},
                                                   {14753792, "14.0703", "14408"},
                                                   {1073741824, "1024", "1.04858e+06"}}) {
    EXPECT_EQ(megabytes(row.bytes), row.megabytes);
    EXPECT_EQ(kilobytes(row.bytes), row.kilobytes);
  }
}

TEST(Units, ViewerSizesHaveTwoForms) {
  EXPECT_EQ(compact(0), "0.0B");
  EXPECT_EQ(compact(208896), "204.0KB");
  EXPECT_EQ(compact(12582912), "12.0MB");
  EXPECT_EQ(spaced(0), "0.0B");
  EXPECT_EQ(spaced(114688), "112 KB");
  EXPECT_EQ(spaced(8192000), "7.8 MB");
  EXPECT_EQ(spaced(std::uint64_t{306} << 20), "306 MB");
}

}  // namespace
}  // namespace ttmem::legacy
