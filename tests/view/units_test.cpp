// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/units.hpp"

#include <gtest/gtest.h>

namespace ttmem::view {
namespace {

TEST(Units, BytesHaveOneDecimalAndFitTheirUnit) {
  EXPECT_EQ(bytes_text(std::uint64_t{0}), "0 B");
  EXPECT_EQ(bytes_text(std::uint64_t{1023}), "1023 B");
  EXPECT_EQ(bytes_text(std::uint64_t{1024}), "1.0 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{1'011'712}), "988.0 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{8'192'000}), "7.8 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{12} << 30), "12.0 GiB");
  EXPECT_EQ(bytes_text(~std::uint64_t{0}), "16384.0 PiB");
}

TEST(Units, RoundingNeverShowsAThousandAndTwentyFour) {
  EXPECT_EQ(bytes_text((std::uint64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytes_text((std::uint64_t{1} << 30) - 1), "1.0 GiB");
}

TEST(Units, WhatIsNotKnownIsNotZero) {
  EXPECT_EQ(bytes_text(ledger::Figure()), "?");
  EXPECT_EQ(exact_text(ledger::Figure()), "?");
  EXPECT_EQ(age_text(0, 5), "-");
}

TEST(Units, NegativeBytesKeepTheirSign) {
  EXPECT_EQ(signed_bytes_text(-3'488), "-3.4 KiB");
  EXPECT_EQ(signed_bytes_text(INT64_MIN), "-8192.0 PiB");
  EXPECT_EQ(signed_exact_text(-3'488), "-3,488");
}

TEST(Units, ExactBytesHaveSeparators) {
  EXPECT_EQ(exact_text(std::uint64_t{7}), "7");
  EXPECT_EQ(exact_text(std::uint64_t{999}), "999");
  EXPECT_EQ(exact_text(std::uint64_t{1'499'136}), "1,499,136");
}

TEST(Units, CountsAndDurationsReadAsWords) {
  EXPECT_EQ(count_text(1, "buffer"), "1 buffer");
  EXPECT_EQ(count_text(120, "buffer"), "120 buffers");
  EXPECT_EQ(duration_text(12'300'000'000), "12 s");
  EXPECT_EQ(duration_text(303'000'000'000), "5 m 03 s");
  EXPECT_EQ(duration_text(7'500ull * 1'000'000'000), "2 h 05 m");
  EXPECT_EQ(duration_text(273'600ull * 1'000'000'000), "3 d 04 h");
}

TEST(Units, UniqueIdsHaveSixteenDigits) {
  EXPECT_EQ(unique_id_text(1), "0x0000000000000001");
  EXPECT_EQ(hex_text(0x1887000), "0x1887000");
}

// Six significant digits as printf("%g"), in MB and KB of 1024.
TEST(LegacyNumbers, PrintAsTheOriginalDid) {
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
    EXPECT_EQ(legacy_megabytes(row.bytes), row.megabytes);
    EXPECT_EQ(legacy_kilobytes(row.bytes), row.kilobytes);
  }
}

TEST(LegacyNumbers, ViewerSizesHaveTwoForms) {
  EXPECT_EQ(legacy_compact(0), "0.0B");
  EXPECT_EQ(legacy_compact(208896), "204.0KB");
  EXPECT_EQ(legacy_compact(12582912), "12.0MB");
  EXPECT_EQ(legacy_spaced(0), "0.0B");
  EXPECT_EQ(legacy_spaced(114688), "112 KB");
  EXPECT_EQ(legacy_spaced(8192000), "7.8 MB");
  EXPECT_EQ(legacy_spaced(std::uint64_t{306} << 20), "306 MB");
}

}  // namespace
}  // namespace ttmem::view
