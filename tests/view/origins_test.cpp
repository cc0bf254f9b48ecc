// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is held by origin, in text and as JSON.
#include <sstream>

#include <gtest/gtest.h>

#include "support/owners.hpp"
#include "view/json.hpp"
#include "view/json_doc.hpp"
#include "view/printable.hpp"
#include "view/text.hpp"

namespace ttmem::view {
namespace {

using ledger::OriginBy;
using ledger::OriginTotal;
using ledger::Space;
using Json = nlohmann::ordered_json;

OriginTotal row(std::vector<std::string> path, std::uint64_t dram, std::int32_t pid = 7) {
  OriginTotal total;
  total.path = std::move(path);
  total.processes = {test::owner(pid)};
  total.space(Space::kDram) = {dram, dram / 2, 1};
  return total;
}

ledger::OriginPeak peak() {
  return {test::owner(7), {0, 1}, Space::kDram, 1'000'000'000, 8192, 8000};
}

std::string printed(const std::vector<OriginTotal>& rows, OriginBy by) {
  return origins_text({{by, {}, {}}, {rows, {}}}, Style());
}

TEST(OriginsText, ARowForEachAndTheirSum) {
  const std::vector<OriginTotal> rows = {row({"a.py:3 f"}, 4096), row({}, 1024)};
  EXPECT_EQ(printed(rows, OriginBy::kLine),
            "   DRAM   L1  Buffers  DRAM last min  Line\n"
            "4.0 KiB  0 B        1        2.0 KiB  a.py:3 f\n"
            "1.0 KiB  0 B        1          512 B  (not known)\n"
            "5.0 KiB  0 B        2        2.5 KiB  Total\n");
}

TEST(OriginsText, WhatCameInTheLastMinuteIsToldOfEachSpace) {
  std::vector<OriginTotal> rows = {row({"a.py:3 f"}, 8 << 20), row({"b.py:4 g"}, 4096)};
  rows[0].space(Space::kL1) = {1 << 20, 0, 1};
  rows[1].space(Space::kL1) = {64, 64, 1};
  EXPECT_EQ(printed(rows, OriginBy::kLine),
            "   DRAM       L1  Buffers  DRAM last min  L1 last min  Line\n"
            "8.0 MiB  1.0 MiB        2        4.0 MiB          0 B  a.py:3 f\n"
            "4.0 KiB     64 B        2        2.0 KiB         64 B  b.py:4 g\n"
            "8.0 MiB  1.0 MiB        4        4.0 MiB         64 B  Total\n");
}

TEST(OriginsText, WhyALineIsNotKnownIsSaid) {
  const Origins origins = {{OriginBy::kLine, {}, {}},
                           {{row({}, 1024), row({"a.py:3 f"}, 512, 8)}, {}}};
  ledger::Snapshot snapshot;
  for (const std::int32_t pid : {7, 8}) {
    ledger::ProcessView process;
    static_cast<ledger::ProcessName&>(process) = *test::owner(pid);
    process.tracking.lines = ledger::Lines::kOff;
    snapshot.processes.push_back(process);
  }
  const std::string text = origins_notes(origins, snapshot);
  EXPECT_NE(text.find("(7): lines were switched off (--no-lines, TTMEM_LINES=0)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("(8)"), std::string::npos) << text;
  snapshot.processes[0].tracking.lines = ledger::Lines::kRefused;
  snapshot.processes[0].tracking.lines_reason = "this is a debug build of Python";
  EXPECT_NE(origins_notes(origins, snapshot)
                .find("(7): no lines of Python are told: this is a debug build of Python\n"),
            std::string::npos);
  snapshot.processes[0].tracking.lines = ledger::Lines::kOn;
  EXPECT_EQ(origins_notes(origins, snapshot), "");
  snapshot.processes[0].tracking.partial = true;
  EXPECT_NE(
      origins_notes(origins, snapshot).find("(7): what it had before it was recorded has no line"),
      std::string::npos);
  EXPECT_EQ(origins_notes({{OriginBy::kRegion, {}, {}}, origins.totals}, snapshot), "");
}

TEST(OriginsText, WhatOthersHoldIsNotPassedOver) {
  ledger::Snapshot snapshot;
  ledger::ProcessView process;
  static_cast<ledger::ProcessName&>(process) = *test::owner(7);
  process.alive = true;
  process.user = "maria";
  process.sources = {ledger::Source::kInjector, ledger::Source::kDaemon};
  process.devices.emplace_back().figures.space(Space::kDram).taken = 4096;
  process.devices.back().figures.space(Space::kL1).taken = 0;
  snapshot.processes.push_back(process);
  const std::string text = origins_notes({}, snapshot);
  EXPECT_TRUE(text.starts_with("not listed: DRAM 4.0 KiB of ")) << text;
  EXPECT_TRUE(text.ends_with("(7) of maria, which you may not read\n")) << text;
  snapshot.processes[0].alive = false;
  EXPECT_EQ(origins_notes({}, snapshot), "");
}

TEST(OriginsText, SeveralProcessesAreNamedAndNamesAreHarmless) {
  std::vector<OriginTotal> rows = {row({"a\x1b[2J"}, 4096), row({"b"}, 1024, 8)};
  rows[1].processes = {test::owner(7), test::owner(8)};
  const std::string text = printed(rows, OriginBy::kRegion);
  EXPECT_NE(text.find("2 processes  b\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(OriginsText, AStackIsATreeWithWhatIsInside) {
  const std::vector<OriginTotal> rows = {row({"main", "f"}, 4096), row({"main", "g"}, 8192)};
  EXPECT_EQ(printed(rows, OriginBy::kStack),
            "    DRAM   L1  Buffers  DRAM last min  Stack\n"
            "12.0 KiB  0 B        2        6.0 KiB  main\n"
            " 8.0 KiB  0 B        1        4.0 KiB    g\n"
            " 4.0 KiB  0 B        1        2.0 KiB    f\n"
            "12.0 KiB  0 B        2        6.0 KiB  Total\n");
}

// Calls that do not branch stand below each other, without the same figures again.
TEST(OriginsText, ACallThatHasAllOfItsCallersIsNoBranch) {
  const std::vector<OriginTotal> rows = {row({"main", "model", "layer", "add"}, 4096),
                                         row({"main", "model", "layer", "mul"}, 8192),
                                         row({"other", "mul"}, 1024), row({"other"}, 1024)};
  EXPECT_EQ(printed(rows, OriginBy::kStack),
            "    DRAM   L1  Buffers  DRAM last min  Stack\n"
            "12.0 KiB  0 B        2        6.0 KiB  main\n"
            "                                         model\n"
            "                                         layer\n"
            " 8.0 KiB  0 B        1        4.0 KiB    mul\n"
            " 4.0 KiB  0 B        1        2.0 KiB    add\n"
            " 2.0 KiB  0 B        2        1.0 KiB  other\n"
            " 1.0 KiB  0 B        1          512 B    mul\n"
            "14.0 KiB  0 B        4        7.0 KiB  Total\n");
}

TEST(OriginsText, ATreeFitsATerminal) {
  std::vector<OriginTotal> rows;
  std::vector<std::string> path;
  for (int depth = 0; depth < 40; ++depth) {
    path.push_back("/home/user/models/demos/llama3/tt/attention.py:" + std::to_string(depth) +
                   " f");
    rows.push_back(row(path, 1 << 20));
    rows.back().space(Space::kL1) = {1 << 20, 1 << 20, 1, 1 << 20};
  }
  const std::string text =
      origins_text({{OriginBy::kStack, {}, {}}, {rows, {}}}, {.ansi = {}, .columns = 80});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80u) << line;
  EXPECT_NE(text.find("[39] …s/llama3/tt/attention.py:39 f\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("last min"), std::string::npos) << text;
}

TEST(OriginsText, StepsOfProgramsAloneGoByWhatTheyTake) {
  std::vector<OriginTotal> rows = {row({"add"}, 0), row({"matmul"}, 0)};
  rows[0].program_l1 = 4096;
  rows[1].program_l1 = 8192;
  const std::string text = printed(rows, OriginBy::kStack);
  EXPECT_LT(text.find("matmul"), text.find("add")) << text;
}

TEST(OriginsText, WhatWasHeldAtThePeakHasAColumnAndAMoment) {
  std::vector<OriginTotal> rows = {row({"a.py:3 f"}, 4096), row({"b.py:4 g"}, 1024)};
  rows[1].space(Space::kDram).at_peak = 8000;
  const std::string text = origins_text({{OriginBy::kLine, {}, {}}, {rows, {peak()}}}, Style());
  EXPECT_NE(text.find("DRAM last min  DRAM at peak  Line\n"), std::string::npos) << text;
  EXPECT_NE(text.find("7.8 KiB  b.py:4 g\n"), std::string::npos) << text;
  EXPECT_NE(text.find("8.0 KiB on each of devices 0-1, of which the rows tell 7.8 KiB\n"),
            std::string::npos)
      << text;
}

TEST(OriginsText, AnOperationOfTheLaunchThatFollowedSaysSo) {
  OriginTotal derived = row({"BinaryNgDeviceOperation"}, 4096);
  derived.derived = true;
  const std::string text = printed({derived, row({"ttnn.ones"}, 1024)}, OriginBy::kOperation);
  EXPECT_NE(text.find("  BinaryNgDeviceOperation (derived)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  ttnn.ones\n"), std::string::npos) << text;
}

TEST(OriginsText, UnknownBytesAreNotZero) {
  OriginTotal bare;
  bare.space(Space::kDram).buffers = 1;
  const std::string text = printed({bare}, OriginBy::kLine);
  EXPECT_NE(text.find("?  0 B"), std::string::npos) << text;
}

TEST(JsonDocument, OriginsAreWhatTheirTablesSay) {
  OriginTotal bare;
  bare.space(Space::kL1).buffers = 1;
  const Json value = Json::parse(origins_json(
      {}, {{OriginBy::kRegion, 1, {}}, {{row({"model > layer 3"}, 4096), bare}, {peak()}}},
      JsonLayout::kPretty));
  EXPECT_EQ(test::JsonDoc().complaints(value, "origins"), "");
  EXPECT_EQ(value["origins"][0]["name"], "model > layer 3");
  EXPECT_TRUE(value["origins"][1]["name"].is_null());
  EXPECT_TRUE(value["origins"][1]["l1"]["taken"].is_null());
  EXPECT_EQ(value["origins"][1]["dram"]["taken"], 0);
  EXPECT_EQ(value["total"]["dram"]["taken"], 4096);
  EXPECT_EQ(value["device"], 1);
  EXPECT_EQ(value["peaks"][0]["bytes"], 8192);
  EXPECT_TRUE(value["origins"][1]["l1"]["at_peak"].is_null());
}

}  // namespace
}  // namespace ttmem::view
