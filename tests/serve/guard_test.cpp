// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/guard.hpp"

#include <gtest/gtest.h>

#include "serve/http/request.hpp"

namespace ttmem::serve::http {
namespace {

TEST(Guard, HostsWithoutTheirPort) {
  EXPECT_EQ(without_port("localhost"), "localhost");
  EXPECT_EQ(without_port("localhost:7171"), "localhost");
  EXPECT_EQ(without_port("[::1]:7171"), "::1");
  EXPECT_EQ(without_port("::1"), "::1");
  EXPECT_EQ(without_port(""), "");
  EXPECT_EQ(without_port("["), "[");
}

TEST(Guard, LoopbackIsOnlyWhatTheSystemCallsSo) {
  for (const char* address : {"127.0.0.1", "127.255.255.254", "::1", "localhost"}) {
    EXPECT_TRUE(is_loopback(address)) << address;
  }
  for (const char* address : {"", "0.0.0.0", "128.0.0.1", "::", "::ffff:127.0.0.1", "127.1",
                              "127.0.0.1.example", "localhost.example", "0x7f000001"}) {
    EXPECT_FALSE(is_loopback(address)) << address;
  }
}

TEST(Guard, TokensAreComparedWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abcabc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
}

Request from_elsewhere(const std::string& authorization) {
  Request request;
  request.method = "GET";
  request.host = "box:7171";
  request.from_loopback = false;
  request.authorization = authorization;
  return request;
}

unsigned status(const GuardOptions& options, const Request& request) {
  const auto refusal = Guard(options).refusal(request);
  return refusal ? refusal->status : 200;
}

TEST(Guard, ElsewhereNeedsPermissionAndTheToken) {
  const std::string token = "0123456789abcdef";
  EXPECT_EQ(status({}, from_elsewhere("")), 403u);
  EXPECT_EQ(status({.token = token}, from_elsewhere("Bearer " + token)), 403u);
  EXPECT_EQ(status({.allow_remote = true}, from_elsewhere("Bearer ")), 401u);
  EXPECT_EQ(status({.allow_remote = true, .token = token}, from_elsewhere("Bearer x")), 401u);
  EXPECT_EQ(status({.allow_remote = true, .token = token}, from_elsewhere("Bearer " + token)),
            200u);
}

TEST(Request, TargetsAreTakenApart) {
  Request request;
  ASSERT_TRUE(parse_target("/a%20b/c+d?x=1&y=%3D%26&x=2&z&&=v&plus=a+b", request));
  EXPECT_EQ(request.path, "/a b/c+d");
  ASSERT_NE(request.parameter("x"), nullptr);
  EXPECT_EQ(*request.parameter("x"), "1");
  EXPECT_EQ(*request.parameter("y"), "=&");
  EXPECT_EQ(*request.parameter("z"), "");
  EXPECT_EQ(*request.parameter("plus"), "a b");
  EXPECT_EQ(request.parameter("nothing"), nullptr);
  for (const char* target :
       {"", "a", "*", "http://x/", "/%", "/%4", "/%4g", "/%00", "/%0a", "/?a=%0d", "/?%7f=1"}) {
    EXPECT_FALSE(parse_target(target, request)) << target;
  }
}

}  // namespace
}  // namespace ttmem::serve::http
