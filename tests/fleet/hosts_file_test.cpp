// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/hosts_file.hpp"

#include <gtest/gtest.h>

namespace ttmem::fleet {
namespace {

std::string problem(const std::string& text) {
  const auto hosts = parse_hosts(text);
  return hosts ? "" : hosts.error().message;
}

TEST(HostsFile, ALineIsAHost) {
  const auto hosts = parse_hosts(
      "# the rack\nnode7\n  root@node8   # by ssh, too\n\nnode9:7172\r\nhttp://[::1]:80/ttmem\n");
  ASSERT_TRUE(hosts);
  ASSERT_EQ(hosts->size(), 4u);
  EXPECT_EQ((*hosts)[0].name, "node7");
  EXPECT_FALSE((*hosts)[0].url);
  EXPECT_EQ((*hosts)[1].name, "root@node8");
  ASSERT_TRUE((*hosts)[2].url);
  EXPECT_EQ((*hosts)[2].url->host, "node9");
  EXPECT_EQ((*hosts)[2].url->port, 7172);
  EXPECT_EQ((*hosts)[3].url->host, "::1");
  EXPECT_EQ((*hosts)[3].url->path, "/ttmem");
  EXPECT_EQ((*hosts)[3].url->authority(), "[::1]:80");
}

TEST(HostsFile, WhatSshWouldTakeForAnOptionIsRefused) {
  EXPECT_EQ(problem("node7\n-oProxyCommand=touch\n"),
            "line 2: a name of a host does not begin with '-'");
  EXPECT_NE(problem("http://-x:80"), "");
  EXPECT_NE(problem("a;reboot"), "");
  EXPECT_NE(problem("a b"), "");
  EXPECT_NE(problem("$(x)"), "");
  for (const char* wrong : {"root@-x", "root@", "@node7", "-x@node7", "a@b@c"}) {
    EXPECT_NE(problem(wrong), "") << wrong;
  }
}

TEST(HostsFile, NobodyTwiceAndNotTooMany) {
  EXPECT_EQ(problem("a\nb\na\n"), "line 3: a stands there twice");
  EXPECT_EQ(problem("# nobody\n"), "no host stands in it");
  std::string many;
  for (int i = 0; i < 256; ++i) many += "n" + std::to_string(i) + "\n";
  EXPECT_EQ(problem(many), "");
  EXPECT_NE(problem(many + "one-more\n").find("--from"), std::string::npos);
}

TEST(Urls, AnAddressIsReadOrRefused) {
  const auto url = parse_url("http://prom.example:9091/select/0/prometheus", 9090);
  ASSERT_TRUE(url);
  EXPECT_EQ(url->authority(), "prom.example:9091");
  EXPECT_EQ(url->path, "/select/0/prometheus");
  EXPECT_EQ(parse_url("prom/", 9090)->text(), "http://prom:9090");
  for (const char* wrong : {"ftp://x", "http://", "http://a:0", "http://a:99999", "http://a b",
                            "http://u:p@a", "http://a/\r\nX: y", "-x"}) {
    EXPECT_FALSE(parse_url(wrong, 80)) << wrong;
  }
  const auto tls = parse_url("https://prom/x", 9090);
  ASSERT_TRUE(tls);
  EXPECT_TRUE(tls->secure);
  EXPECT_EQ(tls->text(), "https://prom:443/x");
}

TEST(Urls, AHeaderIsOneLine) {
  const auto header = parse_header("X-Scope-OrgID:  team ");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->first, "X-Scope-OrgID");
  EXPECT_EQ(header->second, "team");
  for (const char* wrong : {"", "no colon", ": x", "a b: c", "a: b\r\nc: d"}) {
    EXPECT_FALSE(parse_header(wrong)) << wrong;
  }
}

TEST(Urls, ATokenIsNoOptionOfACommandLine) {
  EXPECT_TRUE(parse_header_option("X-Scope-OrgID: team"));
  for (const char* wrong : {"Authorization: Bearer x", "authorization:Basic x", "no colon"}) {
    EXPECT_FALSE(parse_header_option(wrong)) << wrong;
  }
  EXPECT_EQ(authorization("x").second, "Bearer x");
  EXPECT_EQ(authorization("Basic eDp5").second, "Basic eDp5");
}

}  // namespace
}  // namespace ttmem::fleet
