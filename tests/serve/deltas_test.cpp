// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/deltas.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "view/json.hpp"

namespace ttmem::serve::http {
namespace {

std::string first_of(Deltas& deltas, LiveSnapshot& live, std::string_view last, bool events) {
  FirstEvents given = deltas.first(live, last, events);
  for (const SharedText& part : given.rest) given.start += *part;
  return given.start;
}

using Json = nlohmann::json;
using view::json::ProcessDetail;

ledger::Snapshot host(std::uint64_t dram, std::uint64_t time = 1) {
  ledger::Snapshot snapshot;
  snapshot.host = "box";
  snapshot.time = time;
  snapshot.devices.resize(2);
  snapshot.devices[1].id = 1;
  snapshot.devices[0].figures.space(ledger::Space::kDram).taken = dram;
  ledger::ProcessView process;
  process.key = 1;
  process.pid = 7;
  process.alive = true;
  process.devices.resize(1);
  process.devices[0].figures.space(ledger::Space::kDram).taken = dram;
  snapshot.processes.push_back(process);
  return snapshot;
}

std::vector<Json> data_of(const std::string& text) {
  std::vector<Json> found;
  for (std::size_t at = text.find("data: "); at != std::string::npos;
       at = text.find("data: ", at)) {
    at += 6;
    found.push_back(Json::parse(text.substr(at, text.find('\n', at) - at)));
  }
  return found;
}

TEST(LiveSnapshot, OnlyTheTimeIsNoChange) {
  LiveSnapshot live;
  EXPECT_TRUE(live.take(host(5)));
  const auto first = live.document().rest;
  EXPECT_FALSE(live.take(host(5, 2)));
  EXPECT_EQ(live.document().rest, first);  // the very same text, shared
  EXPECT_NE(live.document().start.find("\"time_ns\":2"), std::string::npos);
  EXPECT_TRUE(live.take(host(6, 3)));
  EXPECT_EQ(live.generation(), 2u);
}

TEST(LiveSnapshot, ItIsTheDocumentOfTheViews) {
  LiveSnapshot live;
  for (const std::uint64_t dram : {5u, 5u, 9u}) {
    const ledger::Snapshot snapshot = host(dram);
    live.take(snapshot);
    const auto text = live.document();
    EXPECT_EQ(text.start + *text.rest,
              view::snapshot_json(snapshot, view::JsonLayout::kCompact) + "\n");
  }
}

TEST(LiveSnapshot, ComingGoingAndChangingPlacesAreChanges) {
  LiveSnapshot live;
  ledger::Snapshot snapshot = host(1);
  live.take(snapshot);
  snapshot.processes.push_back(snapshot.processes[0]);
  snapshot.processes[1].key = 2;
  EXPECT_TRUE(live.take(snapshot));
  std::swap(snapshot.processes[0], snapshot.processes[1]);
  EXPECT_TRUE(live.take(snapshot));
  EXPECT_FALSE(live.take(snapshot));
  snapshot.processes.pop_back();
  EXPECT_TRUE(live.take(snapshot));
  snapshot.unreadable = {"x"};
  EXPECT_TRUE(live.take(snapshot));
}

TEST(Deltas, OnlyFieldsThatDiffer) {
  LiveSnapshot live;
  Deltas deltas("d", ProcessDetail::kFull);
  live.take(host(5));
  EXPECT_EQ(deltas.step(live, {}, true).changes, nullptr);  // nobody listens
  const std::string first = first_of(deltas, live, "", true);
  EXPECT_NE(first.find("id: d-0\nevent: snapshot\ndata: {"), std::string::npos);
  EXPECT_EQ(deltas.step(live, {}, true).changes, nullptr);
  live.take(host(6, 9));
  const auto text = deltas.step(live, {}, true).changes;
  ASSERT_NE(text, nullptr);
  ASSERT_TRUE(text->starts_with("id: d-1\nevent: delta\ndata: "));
  const Json delta = data_of(*text).at(0);
  EXPECT_EQ(delta.at("time_ns"), 9);
  EXPECT_EQ(delta.at("devices"), Json::parse(R"([{"id":0,"dram":{"taken":6}}])"));
  EXPECT_EQ(delta.at("processes"),
            Json::parse(R"([{"pid":7,"start":0,"segment":null,"held":{"dram":6},
                             "devices":[{"id":0,"dram":{"taken":6}}]}])"));
  EXPECT_TRUE(delta.at("gone_devices").empty());
}

TEST(Deltas, WhatLeavesIsNamed) {
  LiveSnapshot live;
  Deltas deltas("d", ProcessDetail::kFull);
  live.take(host(5));
  first_of(deltas, live, "", true);
  ledger::Snapshot snapshot = host(5);
  snapshot.devices.pop_back();
  snapshot.processes.clear();
  live.take(snapshot);
  const Json delta = data_of(*deltas.step(live, {}, true).changes).at(0);
  EXPECT_EQ(delta.at("gone_devices"), Json::parse(R"([{"id":1}])"));
  EXPECT_EQ(delta.at("gone_processes"), Json::parse(R"([{"pid":7,"start":0,"segment":null}])"));
}

TEST(Deltas, WhoComesBackGetsTheRestOrAllOfIt) {
  LiveSnapshot live;
  Deltas deltas("d", ProcessDetail::kFull);
  live.take(host(1));
  first_of(deltas, live, "", true);
  for (const std::uint64_t dram : {2u, 3u, 4u}) {
    live.take(host(dram));
    deltas.step(live, {}, true);
  }
  const std::string rest = first_of(deltas, live, "d-1", true);
  EXPECT_EQ(rest.find("event: snapshot"), std::string::npos);
  EXPECT_NE(rest.find("id: d-2\n"), std::string::npos);
  EXPECT_NE(rest.find("id: d-3\n"), std::string::npos);
  EXPECT_EQ(first_of(deltas, live, "d-3", true), "retry: 1000\n\n");
  for (const char* unknown : {"", "d-4", "d--1", "d-x", "e-1", "d-18446744073709551616"}) {
    EXPECT_NE(first_of(deltas, live, unknown, true).find("event: snapshot"), std::string::npos)
        << unknown;
  }
  deltas.rest();  // while nobody listened, nothing was kept
  EXPECT_NE(first_of(deltas, live, "d-3", true).find("event: snapshot"), std::string::npos);
}

TEST(Deltas, OfTooManyEventsTheNewestAreTold) {
  LiveSnapshot live;
  Deltas deltas("d", ProcessDetail::kFull);
  live.take(host(1));
  first_of(deltas, live, "", true);
  std::vector<ledger::EventView> events(2500);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].kind = ledger::EventKind::kBufferAllocated;
    events[i].number = i + 1;
  }
  const std::vector<Json> told = data_of(*deltas.step(live, events, true).events);
  ASSERT_EQ(told.size(), 1001u);
  EXPECT_EQ(told[0].at("event"), "gap");
  EXPECT_EQ(told[0].at("missed"), 1500);
  EXPECT_EQ(told[1].at("number"), 1501);
  EXPECT_EQ(told.back().at("number"), 2500);
}

TEST(Deltas, BriefOnesLeaveOutWhatAProcessHoldsOnEachDevice) {
  LiveSnapshot live;
  Deltas deltas("d", ProcessDetail::kBrief);
  live.take(host(5));
  const Json process = data_of(first_of(deltas, live, "", false)).at(0).at("processes").at(0);
  EXPECT_EQ(process.at("held").at("dram"), 5);
  EXPECT_EQ(process.at("devices"),
            Json::parse(R"([{"id":0,"unique_id":"0x0000000000000000","metal_id":null,"open":false,
                             "in_mesh":false,"contradiction":null}])"));
  live.take(host(6));
  const Json delta = data_of(*deltas.step(live, {}, false).changes).at(0);
  EXPECT_EQ(delta.at("processes"),
            Json::parse(R"([{"pid":7,"start":0,"segment":null,"held":{"dram":6}}])"));
}

TEST(Deltas, WhoWantsNoEventsGetsNoneAndWhoWantsThemMissesNone) {
  LiveSnapshot live;
  Deltas deltas("d", ProcessDetail::kFull);
  live.take(host(1));
  first_of(deltas, live, "", true);
  const std::vector<ledger::EventView> events(2);
  live.take(host(2));
  deltas.step(live, events, true);  // d-1 is the change, d-2 and d-3 the events
  EXPECT_EQ(data_of(first_of(deltas, live, "d-0", true)).size(), 3u);
  EXPECT_EQ(data_of(first_of(deltas, live, "d-0", false)).size(), 1u);
  EXPECT_EQ(data_of(first_of(deltas, live, "d-1", true)).size(), 2u);

  live.take(host(3));
  EXPECT_EQ(deltas.step(live, events, false).events, nullptr);  // nobody wants them any more
  EXPECT_EQ(data_of(first_of(deltas, live, "d-3", false)).size(), 1u);
  // Two are lost for one who comes back for them: it begins again.
  EXPECT_NE(first_of(deltas, live, "d-3", true).find("event: snapshot"), std::string::npos);
  EXPECT_NE(deltas.step(live, events, true).events, nullptr);
  EXPECT_EQ(data_of(first_of(deltas, live, "d-4", true)).size(), 2u);
}

}  // namespace
}  // namespace ttmem::serve::http
