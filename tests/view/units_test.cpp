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

TEST(Units, SizesAreReadAsPeopleWriteThem) {
  EXPECT_EQ(bytes_in("4096"), 4096);
  EXPECT_EQ(bytes_in("149B"), 149);
  EXPECT_EQ(bytes_in("500M"), 500u << 20);
  for (const char* text : {"64MiB", "64 MiB", "64mib", "64MB", "64M", "64Mi", "65536 KiB"}) {
    EXPECT_EQ(bytes_in(text), 64u << 20) << text;
  }
  EXPECT_EQ(bytes_in("1.5 GiB"), 3ull << 29);
  EXPECT_EQ(bytes_in("2T"), 2ull << 40);
  for (const char* text : {"", "M", "-1", "5X", "5 MiBs", "5iB", "5 M iB", "1e3", "nan", "inf",
                           "0x10", "16384P", "1M2"}) {
    EXPECT_EQ(bytes_in(text), std::nullopt) << text;
  }
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
}  // namespace
}  // namespace ttmem::view
