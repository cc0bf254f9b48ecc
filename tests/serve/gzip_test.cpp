// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/gzip.hpp"

#include <string>

#include <gtest/gtest.h>

#include "serve/http/request.hpp"

namespace ttmem::serve::http {
namespace {

// An empty last block and a checksum that nobody looks at.
const std::string kEnd("\x03\x00--------", 10);

TEST(Gzip, PiecesInAnyOrderAndFromAnyPointAreOneStream) {
  const std::string one(100'000, 'x'), two = "id: 1\nevent: delta\ndata: {}\n\n", three;
  const std::string a = gzip_piece(one), b = gzip_piece(two), c = gzip_piece(three);
  EXPECT_LT(a.size(), one.size() / 50);
  EXPECT_EQ(gunzipped(gzip_head() + a + b + c + kEnd), one + two);
  EXPECT_EQ(gunzipped(gzip_head() + b + b + a + kEnd), two + two + one);
  EXPECT_EQ(gunzipped(gzip_head() + kEnd), "");
}

TEST(Gzip, WhatIsNotPackedGivesNothing) {
  EXPECT_EQ(gunzipped(""), "");
  EXPECT_EQ(gunzipped("short"), "");
  EXPECT_EQ(gunzipped(std::string(100, '\xFF')), "");
  const std::string whole = gzip_head() + gzip_piece(std::string(1000, 'y'));
  EXPECT_EQ(gunzipped(whole.substr(0, whole.size() - 4)), "");
}

TEST(Gzip, AWholeFileIsItselfAgain) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(gunzipped(gzipped(text)), text);
  EXPECT_LT(gzipped(text).size(), 1000U);
}

TEST(Gzip, ALargeFileIsItselfAgain) {
  std::string text;
  for (int i = 0; text.size() < 2'000'000; ++i) text += std::to_string(i * 7919) + "\n";
  EXPECT_EQ(gunzipped(gzipped(text)), text);
  EXPECT_LT(gzipped(text).size(), text.size() / 2);
}

TEST(Gzip, IsSentToThoseWhoTakeIt) {
  for (const char* accepted : {"gzip", "br, gzip", "gzip, deflate, br, zstd", "gzip;q=0.5"}) {
    EXPECT_TRUE(allows_gzip(accepted)) << accepted;
  }
  for (const char* accepted : {"", "identity", "gzip;q=0", "gzip; q=0.000", "xgzip", "*"}) {
    EXPECT_FALSE(allows_gzip(accepted)) << accepted;
  }
}

}  // namespace
}  // namespace ttmem::serve::http
