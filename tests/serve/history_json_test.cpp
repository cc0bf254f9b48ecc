// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/history/query.hpp"
#include "serve/history_world.hpp"

namespace ttmem::test {
namespace {

using nlohmann::json;
using serve::history::Parameters;

constexpr ledger::TimeNs kNow = 1'800'000'000 * kNs;

Query parsed(const Parameters& parameters) {
  const auto query = serve::history::parse_query(parameters, kNow);
  EXPECT_TRUE(query) << query.error().message;
  return query ? *query : Query{};
}

std::string complaint(Parameters parameters) {
  parameters.insert(parameters.begin(), {"metric", "dram.taken"});
  const auto query = serve::history::parse_query(parameters, kNow);
  return query ? std::string() : query.error().message;
}

TEST(HistoryParameters, TheLastHourIsUsual) {
  const Query query = parsed({{"metric", "dram.taken"}});
  EXPECT_EQ(query.to, kNow);
  EXPECT_EQ(query.from, kNow - 3600 * kNs);
  EXPECT_EQ(query.step_s, 0);
}

TEST(HistoryParameters, TimesAndSteps) {
  const Query query = parsed({{"metric", "m"}, {"from", "-7d"}, {"to", "now"}, {"step", "5m"}});
  EXPECT_EQ(query.from, kNow - 7 * 86'400 * kNs);
  EXPECT_EQ(query.to, kNow);
  EXPECT_EQ(query.step_s, 300);
  EXPECT_EQ(parsed({{"metric", "m"}, {"from", "1700000000.25"}}).from, 1'700'000'000 * kNs);
  EXPECT_EQ(parsed({{"metric", "m"}, {"to", "1000"}}).from, 0u);
}

TEST(HistoryParameters, DevicesAndProcesses) {
  EXPECT_EQ(parsed({{"metric", "m"}, {"device", "3"}}).device->id, 3u);
  EXPECT_EQ(parsed({{"metric", "m"}, {"device", "0x00000000000000a1"}}).device->unique_id, 0xA1u);
  EXPECT_EQ(parsed({{"metric", "m"}, {"pid", "17"}}).process->pid, 17);
  EXPECT_EQ(parsed({{"metric", "m"}, {"pid", "1/81234"}}).process->start, 81234u);
  EXPECT_EQ(parsed({{"metric", "m"}, {"run", "5"}}).run, 5u);
}

TEST(HistoryParameters, WrongOnesAreNamed) {
  for (const auto& [name, text] : Parameters{{"from", ""},
                                             {"from", "yesterday"},
                                             {"from", "-"},
                                             {"from", "99999999999999999999"},
                                             {"to", "-5x"},
                                             {"step", "0"},
                                             {"step", "-1"},
                                             {"step", "s"},
                                             {"step", "99999999999999999d"},
                                             {"device", "0x"},
                                             {"device", "0xzz"},
                                             {"device", "-1"},
                                             {"pid", "1e3"},
                                             {"run", "x"},
                                             {"colour", "red"}}) {
    EXPECT_EQ(complaint({{name, text}}).rfind(name + "=" + text + ": ", 0), 0u) << name << text;
  }
  EXPECT_EQ(complaint({{"from", "20"}, {"to", "10"}}), "from must be before to");
  EXPECT_FALSE(serve::history::parse_query({}, kNow));
  EXPECT_FALSE(serve::history::parse_run_query({{"limit", "0"}}, kNow));
  EXPECT_FALSE(serve::history::parse_run_query({{"limit", "1001"}}, kNow));
  EXPECT_TRUE(serve::history::parse_run_query({{"limit", "1000"}, {"name", "x"}}, kNow));
}

TEST(HistoryJson, AnAnswerHasColumns) {
  Answer answer;
  answer.metric = serve::history::metrics().front();
  answer.from_s = 10;
  answer.to_s = 30;
  answer.step_s = 10;
  Series series;
  series.unique_id = 0xA1;
  series.device = 0;
  series.points = {{1, 3, 2}, {}};
  answer.series = {series};
  EXPECT_EQ(json::parse(serve::history::answer_json(answer)), json::parse(R"({
    "schema": 1, "document": "history", "metric": "dram.taken", "unit": "bytes",
    "from_s": 10, "to_s": 30, "step_s": 10,
    "series": [{"device": 0, "unique_id": "0x00000000000000a1", "run": null, "pid": null,
                "process": null, "min": [1, null], "max": [3, null], "last": [2, null]}]})"));
}

TEST(HistoryJson, ARunHasItsPeaks) {
  serve::history::Run run;
  run.id = 3;
  run.pid = 10;
  run.name = "a\xff\"b";
  run.devices = {{0xA1, 0, 100, {}, {}, {}, 7}};
  const json document = json::parse(serve::history::runs_json({run}));
  EXPECT_EQ(document["runs"][0]["name"], "a\uFFFD\"b");
  EXPECT_EQ(document["runs"][0]["ended"], nullptr);
  EXPECT_EQ(document["runs"][0]["devices"][0]["peak_dram"], 100);
  EXPECT_EQ(document["runs"][0]["devices"][0]["peak_l1"], nullptr);
}

TEST(HistoryJson, EveryMetricIsListedOnce) {
  const json document = json::parse(serve::history::metrics_json());
  std::set<std::string> names;
  for (const json& each : document["metrics"]) {
    EXPECT_TRUE(names.insert(each["name"]).second) << each;
    EXPECT_NE(each["help"], "");
  }
  EXPECT_EQ(names.size(), 26u);
}

}  // namespace
}  // namespace ttmem::test
