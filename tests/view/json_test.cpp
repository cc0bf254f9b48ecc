// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json.hpp"

#include <gtest/gtest.h>

#include "support/owners.hpp"
#include "view/json_doc.hpp"
#include "view/seeds_snapshot.hpp"

namespace ttmem::view {
namespace {

using Json = nlohmann::ordered_json;
using test::JsonDoc;
using test::kNow;
using test::seeds_snapshot;

Json seeds_json() { return Json::parse(snapshot_json(seeds_snapshot(), JsonLayout::kPretty)); }

ledger::FailureView failure() {
  ledger::FailureView view;
  view.number = 1;
  view.kind = "out_of_memory";
  view.time = kNow;
  view.message = "Out of Memory";
  view.requested = 64'880'640;
  view.space = ledger::Space::kL1;
  view.program = 3;
  view.devices = {1};
  view.holdings = 1;
  return view;
}

ledger::HoldingView holding(ledger::HoldingKind kind) {
  ledger::HoldingView view;
  view.kind = kind;
  view.process = test::owner(4711);
  view.devices = {0, 1};
  view.id = 5;
  view.cores = 16;
  view.core_set = "0,0-0,15";
  view.since = kNow;
  return view;
}

constexpr ledger::HoldingKind kKinds[] = {
    ledger::HoldingKind::kBuffer, ledger::HoldingKind::kProgram, ledger::HoldingKind::kKernel,
    ledger::HoldingKind::kRange, ledger::HoldingKind::kTrace};

std::string holdings_text(const std::vector<ledger::HoldingView>& holdings) {
  std::string text;
  holdings_json(seeds_snapshot(), holdings, [&](std::string_view part) { text += part; });
  return text;
}

// ---- every document against docs/json.md -----------------------------------------------------

TEST(JsonDocument, SnapshotIsWhatItsTableSays) {
  EXPECT_EQ(JsonDoc().complaints(seeds_json(), "snapshot"), "");
}

TEST(JsonDocument, SnapshotOfNothingKnownIsStillComplete) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.devices[0] = {};
  snapshot.processes[0] = {};
  snapshot.processes[0].devices.resize(1);
  snapshot.processes[0].failures = {ledger::FailureView{}, failure()};
  EXPECT_EQ(
      JsonDoc().complaints(Json::parse(snapshot_json(snapshot, JsonLayout::kCompact)), "snapshot"),
      "");
}

TEST(JsonDocument, CoresAreWhatTheirTablesSay) {
  ledger::CoreView core;
  core.map = {{ledger::Stretch::kFixed, 0, 35'008, "", {}},
              {ledger::Stretch::kBuffer, 35'008, 40'000, "matmul", test::owner(4711)}};
  ledger::CoreView clash = core;
  clash.headroom = -16;
  clash.clash = {"matmul", "", test::owner(4711)};
  const std::vector<DeviceCores> devices = {{0, 1, {core, clash}}};
  for (const bool with_map : {false, true}) {
    const Json value =
        Json::parse(cores_json(seeds_snapshot(), devices, with_map, JsonLayout::kPretty));
    EXPECT_EQ(JsonDoc().complaints(value, "cores"), "");
    const Json& cores = value["devices"][0]["cores"];
    EXPECT_EQ(cores[0]["map"].is_null(), !with_map);
    EXPECT_TRUE(cores[0]["clash"].is_null());
    EXPECT_EQ(cores[1]["clash"]["program"], "matmul");
    EXPECT_TRUE(cores[1]["clash"]["buffer"].is_null());
    EXPECT_EQ(cores[1]["clash"]["pid"], 4711);
  }
}

TEST(JsonDocument, BanksAreWhatTheirTablesSay) {
  ledger::BankMap map{.space = ledger::Space::kDram, .banks = 12, .begin = 64, .end = 4096};
  map.blocks = {{64, 128, 5, test::owner(4711), "matmul", "", kNow}};
  map.free = {{128, 4096}};
  const Json value =
      Json::parse(banks_json(seeds_snapshot(), {0, 1, {map, {}}}, JsonLayout::kCompact));
  EXPECT_EQ(JsonDoc().complaints(value, "banks"), "");
  EXPECT_EQ(value["spaces"][0]["blocks"][0]["operation"], "matmul");
  EXPECT_TRUE(value["spaces"][0]["blocks"][0]["line"].is_null());
  EXPECT_EQ(value["spaces"][0]["blocks"][0]["segment"], "ttmem-4711-1-aa");
}

TEST(JsonDocument, LaunchesAreWhatTheirTableSays) {
  ledger::ProgramView program;
  program.process = test::owner(4711);
  program.id = 42;
  program.workload = 7;
  program.name = "matmul";
  program.devices = {0};
  program.recent_per_second = 2.5;
  program.launches = ledger::LaunchSeries{
      .since = kNow - 100,
      .until = kNow,
      .intervals = {{kNow - 50, 9, 4, ledger::kMarkReload | ledger::kMarkEviction}}};
  ledger::ProgramView unwatched;
  const Json value =
      Json::parse(launches_json(seeds_snapshot(), {program, unwatched}, JsonLayout::kCompact));
  EXPECT_EQ(JsonDoc().complaints(value, "launches"), "");
  const Json& interval = value["programs"][0]["intervals"][0];
  EXPECT_EQ(interval["launches"], 9);
  EXPECT_EQ(interval["replays"], 4);
  EXPECT_EQ(interval["marks"], Json::array({"reload", "eviction"}));
  EXPECT_TRUE(value["programs"][1]["since_ns"].is_null());
}

TEST(JsonDocument, RingsAreWhatTheirTableSays) {
  ledger::RingView ring;
  ring.process = test::owner(4711);
  ring.base = 35008;
  ring.figures.capacity = 70656;
  ring.figures.largest_free = 10656;
  ring.slices = {{35008, 55008, 7, "matmul", true, true},
                 {55008, 60000, 0, "a trace", true, false}};
  const Json value =
      Json::parse(rings_json(seeds_snapshot(), {0, 1, {ring}}, JsonLayout::kCompact));
  EXPECT_EQ(JsonDoc().complaints(value, "rings"), "");
  EXPECT_EQ(value["rings"][0]["largest_free"], 10656);
  EXPECT_EQ(value["rings"][0]["slices"][0]["workload"], "0x7");
  EXPECT_TRUE(value["rings"][0]["slices"][1]["workload"].is_null());
}

TEST(JsonDocument, HoldingsOfEveryKindAreWhatTheirTableSays) {
  std::vector<ledger::HoldingView> holdings;
  for (const auto kind : kKinds) holdings.push_back(holding(kind));
  const Json value = Json::parse(holdings_text(holdings));
  EXPECT_EQ(JsonDoc().complaints(value, "holdings"), "");
  EXPECT_EQ(value["holdings"].size(), 5u);
  EXPECT_EQ(JsonDoc().complaints(Json::parse(holdings_text({})), "holdings"), "");
}

TEST(JsonDocument, ProgramsAreWhatTheirTableSays) {
  ledger::ProgramView program;
  program.dispatches_per_second = 2.5;
  const Json value =
      Json::parse(programs_json(seeds_snapshot(), {{}, program}, JsonLayout::kPretty));
  EXPECT_EQ(JsonDoc().complaints(value, "programs"), "");
  EXPECT_TRUE(value["programs"][0]["dispatches_per_second"].is_null());
}

TEST(JsonDocument, FailuresAreWhatTheirTablesSay) {
  ProcessFailure with_picture{test::process_named(4711), failure(), {}};
  with_picture.picture.emplace({holding(ledger::HoldingKind::kBuffer)});
  const Json value = Json::parse(failures_json(
      seeds_snapshot(), {with_picture, {test::process_named(1, "x", false), failure(), {}}},
      JsonLayout::kPretty));
  EXPECT_EQ(JsonDoc().complaints(value, "failures"), "");
  EXPECT_TRUE(value["failures"][1]["picture"].is_null());
}

TEST(JsonDocument, EventsOfEveryKindAreWhatTheirTableSays) {
  for (int kind = 0; kind <= static_cast<int>(ledger::EventKind::kStep); ++kind) {
    ledger::EventView event;
    event.kind = static_cast<ledger::EventKind>(kind);
    event.devices = {{}};
    event.kernels = {{}};
    const std::string line = event_json(event);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(JsonDoc().complaints(Json::parse(line), "event"), "");
  }
}

// A checker that accepts everything proves nothing.
TEST(JsonDocument, TheCheckerNoticesBothKindsOfDifference) {
  Json value = seeds_json();
  value["devices"][0]["l1"].erase("peak");
  value["devices"][0]["surprise"] = 1;
  value["processes"][0]["pid"] = "4711";
  const std::string complaints = JsonDoc().complaints(value, "snapshot");
  EXPECT_NE(complaints.find("l1.peak is documented and not written"), std::string::npos);
  EXPECT_NE(complaints.find("surprise is written and not documented"), std::string::npos);
  EXPECT_NE(complaints.find("pid is no integer"), std::string::npos);
}

// ---- values -----------------------------------------------------------------------------------

TEST(Json, SeedsNumbers) {
  const Json device = seeds_json()["devices"][0];
  EXPECT_EQ(device["unique_id"], "0xde30000000000000");
  EXPECT_EQ(device["kernels"]["fabric"]["footprint"], 917'504);
  EXPECT_EQ(device["kernels"]["dispatch"]["footprint"], 94'208);
  EXPECT_EQ(device["kernels"]["system"]["footprint"], 1'011'712);
  EXPECT_EQ(device["kernels"]["application"]["footprint"], 8'192'000);
  EXPECT_EQ(device["kernels"]["total"]["footprint"], 9'203'712);
  EXPECT_EQ(device["kernels"]["cache_hits"], 1);
  EXPECT_EQ(device["dram"]["requested"], 26'214'400);
  EXPECT_EQ(device["l1_total"]["used"], device["l1"]["taken"].get<std::uint64_t>() +
                                            device["program_l1"]["resident"].get<std::uint64_t>());
  EXPECT_EQ(device["ring"]["source"], "simulated");
}

TEST(Json, WhatIsNotKnownIsNull) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.devices[0].figures = {};
  const Json device = Json::parse(snapshot_json(snapshot, JsonLayout::kCompact))["devices"][0];
  EXPECT_TRUE(device["dram"]["taken"].is_null());
  EXPECT_TRUE(device["kernels"]["total"]["footprint"].is_null());
  EXPECT_TRUE(device["ring"].is_null());
  EXPECT_TRUE(device["headroom"]["min"].is_null());
}

TEST(Json, WhatAProcessHoldsIsTheSumOverItsDevices) {
  ledger::Snapshot snapshot = seeds_snapshot();
  ledger::ProcessView& process = snapshot.processes[0];
  process.devices.push_back(process.devices[0]);
  const auto held = [&] {
    return Json::parse(snapshot_json(snapshot, JsonLayout::kCompact))["processes"][0]["held"];
  };
  EXPECT_EQ(held()["dram_requested"], 2 * 26'214'400);
  EXPECT_EQ(held()["kernels"], 2 * 9'203'712);
  process.devices[1].figures = {};
  const Json unknown = held();
  EXPECT_EQ(unknown.size(), 9u);
  for (const auto& [name, value] : unknown.items()) EXPECT_TRUE(value.is_null()) << name;
}

TEST(Json, TheDeadAreMarked) {
  const Json processes = seeds_json()["processes"];
  EXPECT_TRUE(processes[0]["ended"].is_null());
  EXPECT_EQ(processes[1]["ended"], "died");
  EXPECT_EQ(processes[1]["alive"], false);
}

TEST(Json, NamesThatAreNoUtf8DoNotBreakADocument) {
  ledger::Snapshot snapshot = seeds_snapshot();
  snapshot.processes[0].name = "\xff\x1b";
  EXPECT_EQ(Json::parse(snapshot_json(snapshot, JsonLayout::kPretty))["processes"][0]["name"],
            "\xef\xbf\xbd\x1b");
}

}  // namespace
}  // namespace ttmem::view
