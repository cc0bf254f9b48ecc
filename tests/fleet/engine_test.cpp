// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/engine.hpp"

#include <gtest/gtest.h>

#include "fleet/fleet_text.hpp"
#include "view/json_doc.hpp"

namespace ttmem::fleet {
namespace {

std::string refused(const std::string& body) {
  std::vector<std::string> warnings;
  const auto samples = read_samples(body, warnings);
  return samples ? "" : samples.error().message;
}

TEST(Engine, AnAnswerIsReadAndWhatIsNoNumberIsLeftOut) {
  std::vector<std::string> warnings;
  const auto samples = read_samples(
      R"({"status":"success","warnings":["slow","slow"],"data":{"resultType":"vector","result":[
         {"metric":{"instance":"a","odd":7},"value":[1,"1.5e3"]},
         {"metric":{"instance":"b"},"value":[1,"NaN"]},
         {"metric":{"instance":"c"},"value":[1]},
         {"metric":[],"value":[1,"2"]},
         17]}})",
      warnings);
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 1u);
  EXPECT_EQ(samples->front().label("instance"), "a");
  EXPECT_EQ(samples->front().label("odd"), "");
  EXPECT_EQ(samples->front().value, 1500);
  EXPECT_EQ(warnings, std::vector<std::string>{"slow"});
}

TEST(Engine, WhatIsNoAnswerIsRefusedInWords) {
  EXPECT_NE(refused("<html>"), "");
  EXPECT_NE(refused("[]"), "");
  EXPECT_NE(refused("{}"), "");
  EXPECT_NE(refused(R"({"status":"success","data":{"resultType":"matrix","result":[]}})"), "");
  EXPECT_EQ(refused(R"({"status":"error","error":"bad \u001b query"})"),
            "it says: bad \\x1b query");
}

TEST(Engine, TooManySeriesAreRefused) {
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (std::size_t i = 0; i <= kMostSeries; ++i) {
    body += (i == 0 ? "" : ",") + std::string(R"({"metric":{},"value":[1,"1"]})");
  }
  EXPECT_NE(refused(body + "]}}").find("--match"), std::string::npos);
}

TEST(Engine, AValueOfALabelStaysOne) {
  EXPECT_EQ(quoted("a\"} or up{x=\"\\\n"), R"("a\"} or up{x=\"\\\n")");
}

Fleet three_hosts() {
  Fleet fleet;
  fleet.source = "http://engine";
  fleet.time_ns = 5;
  HostRow full;
  full.name = "full";
  full.devices = 3;
  full.in_use = 2;
  full.untold = 1;
  full.dram = 95;
  full.dram_capacity = 100;
  full.headroom = -64;
  HostRow empty = full;
  empty.name = "empty";
  empty.dram = 5;
  empty.headroom = 64;
  HostRow stale;
  stale.name = "old\x1b[2J";
  stale.state = HostState::kStale;
  stale.problem = "told nothing for 5 min";
  fleet.hosts = {stale, empty, full};
  JobRow job;
  job.key = "rack/31.0";
  job.user = "me";
  job.present = 3;
  job.expected = 4;
  fleet.jobs = {job};
  fleet.alerts = {"TtmemClash on full"};
  sort(fleet);
  return fleet;
}

TEST(Fleet, SumsAreOverThoseWhoTell) {
  const Fleet fleet = three_hosts();
  EXPECT_EQ(fleet.hosts[0].name, "full");
  EXPECT_TRUE(fleet.is_partial());
  const FleetTotals totals = totals_of(fleet);
  EXPECT_EQ(totals.devices, 6u);
  EXPECT_EQ(totals.in_use, 4u);
  EXPECT_EQ(totals.untold, 2u);
  EXPECT_EQ(totals.dram, 100u);
  EXPECT_EQ(totals.dram_capacity, 200u);
  EXPECT_FALSE(totals.l1);
  EXPECT_EQ(totals.headroom, -64);
}

TEST(Fleet, IfNobodyTellsNothingIsKnown) {
  Fleet fleet = three_hosts();
  for (HostRow& host : fleet.hosts) host.state = HostState::kSilent;
  EXPECT_FALSE(totals_of(fleet).dram);
}

TEST(Fleet, TheTextSaysWhatIsMissing) {
  const std::string text = fleet_text(three_hosts(), 1, view::Style{});
  EXPECT_NE(text.find("2 hosts, 6 devices, 4 in use: DRAM 100 B of 200 B (50 %)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Partial: 2 devices in no sum: a process has them open"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Partial: 1 of 3 hosts does not tell now; it is in no sum."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("stale: told nothing for 5 min"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 that are less full"), std::string::npos) << text;
  EXPECT_NE(text.find("3 of 4"), std::string::npos) << text;
  EXPECT_NE(text.find("Alert: TtmemClash on full"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Fleet, DocumentsAreWhatTheirTablesSay) {
  using Json = nlohmann::ordered_json;
  const test::JsonDoc doc;
  EXPECT_EQ(doc.complaints(Json::parse(fleet_json(three_hosts())), "fleet"), "");
  DeviceRow device;
  device.id = "3";
  device.temperature = 45.5;
  EXPECT_EQ(doc.complaints(Json::parse(host_json("a", {device, {}}, 5)), "fleet_host"), "");
  EXPECT_EQ(
      doc.complaints(Json::parse(device_json("a", "3", {{"dram", "taken", 7}}, 5)), "fleet_device"),
      "");
}

}  // namespace
}  // namespace ttmem::fleet
