// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/otlp.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fleet/push.hpp"

namespace ttmem::fleet {
namespace {

constexpr const char* kText =
    "# HELP ttmem_memory_bytes Memory of a device.\n"
    "# TYPE ttmem_memory_bytes gauge\n"
    "ttmem_memory_bytes{device=\"0\",unique_id=\"0x1\",space=\"dram\",figure=\"taken\"} 50\n"
    "ttmem_memory_bytes{device=\"0\",unique_id=\"0x1\",space=\"l1\",figure=\"taken\"} 7\n"
    "# HELP ttmem_memory_capacity_bytes What there is.\n"
    "# TYPE ttmem_memory_capacity_bytes gauge\n"
    "ttmem_memory_capacity_bytes{device=\"0\",unique_id=\"0x1\",space=\"dram\"} 200\n"
    "# HELP ttmem_device_info Which.\n"
    "# TYPE ttmem_device_info gauge\n"
    "ttmem_device_info{board=\"a\\\"b\\\\c\\n\",mesh=\"\"} 1\n"
    "# HELP ttmem_self_cpu_seconds_total Time.\n"
    "# TYPE ttmem_self_cpu_seconds_total counter\n"
    "ttmem_self_cpu_seconds_total 1.5\n";

OtlpDocument document() {
  auto families = read_exposition(kText);
  EXPECT_TRUE(families);
  return {{{"host.name", "n1"}}, std::move(*families), 1000, 2000};
}

TEST(Exposition, IsReadBack) {
  const auto families = read_exposition(kText);
  ASSERT_TRUE(families);
  ASSERT_EQ(families->size(), 4u);
  EXPECT_EQ((*families)[0].samples[1].label("space"), "l1");
  EXPECT_EQ((*families)[2].samples[0].label("board"), "a\"b\\c\n");
  EXPECT_TRUE((*families)[3].counter);
  EXPECT_EQ((*families)[3].samples[0].number, "1.5");
  for (const char* wrong : {"", "<html>", "x 1\n", "# HELP x y\nz 1\n", "# HELP x y\nx{a=\"b 1\n",
                            "# HELP x y\nx{a=\"b\"}\n", "# HELP x y\nx\n"}) {
    EXPECT_FALSE(read_exposition(wrong)) << wrong;
  }
}

const nlohmann::json& metric(const nlohmann::json& metrics, const std::string& name) {
  for (const auto& each : metrics) {
    if (each["name"] == name) return each;
  }
  ADD_FAILURE() << name;
  return metrics[0];
}

TEST(Otlp, WhatAReceiverRefusesIsRead) {
  using namespace std::string_literals;
  EXPECT_EQ(otlp_refusal("", false).text, "");
  EXPECT_EQ(otlp_refusal("\x0A\x07\x08\xAC\x02\x12\x02no"s, false).text, "300 points refused: no");
  EXPECT_EQ(otlp_refusal("\x0A\x04\x12\x02no"s, false).text, "a warning: no");
  EXPECT_EQ(otlp_refusal("\x0A\x02\x08\x01"s, false).text, "1 point refused");
  // Cut off, of another kind, without an end: nothing that could be read.
  for (const std::string& wrong :
       {"\x0A\x07\x08"s, "\x0A"s, "\x0D\x01\x02\x03\x04"s, "<html>"s,
        "\x0A\x0B"s + std::string(11, '\xFF'), std::string(64, '\xFF')}) {
    EXPECT_EQ(otlp_refusal(wrong, false).text, "");
  }
  EXPECT_EQ(
      otlp_refusal(R"({"partialSuccess":{"rejectedDataPoints":"12","errorMessage":"no"}})", true)
          .text,
      "12 points refused: no");
  EXPECT_EQ(otlp_refusal(R"({"partialSuccess":{"rejectedDataPoints":12}})", true).text,
            "12 points refused");
  for (const char* wrong :
       {"", "{}", "[]", "3", R"({"partialSuccess":{}})", R"({"partialSuccess":[1]})",
        R"({"partialSuccess":{"rejectedDataPoints":-1,"errorMessage":7}})"}) {
    EXPECT_EQ(otlp_refusal(wrong, true).text, "") << wrong;
  }
}

TEST(Otlp, NamesUnitsAndShapes) {
  const auto request = nlohmann::json::parse(otlp_json(document()));
  const auto& all = request["resourceMetrics"][0];
  EXPECT_EQ(all["resource"]["attributes"][0]["key"], "host.name");
  const auto& metrics = all["scopeMetrics"][0]["metrics"];
  const auto& memory = metric(metrics, "ttmem.memory");
  EXPECT_EQ(memory["unit"], "By");
  EXPECT_EQ(memory["gauge"]["dataPoints"].size(), 2u);
  EXPECT_EQ(memory["gauge"]["dataPoints"][0]["asInt"], "50");
  EXPECT_EQ(memory["gauge"]["dataPoints"][0]["timeUnixNano"], "2000");
  EXPECT_EQ(metric(metrics, "ttmem.device_info")["unit"], "") << "1 is a share";
  const auto& info = metric(metrics, "ttmem.device_info")["gauge"]["dataPoints"][0]["attributes"];
  ASSERT_EQ(info.size(), 1u) << "an empty label is none, as for those who scrape";
  EXPECT_EQ(info[0]["key"], "board");
  const auto& counter = metric(metrics, "ttmem.self_cpu");
  EXPECT_EQ(counter["unit"], "s");
  EXPECT_EQ(counter["sum"]["isMonotonic"], true);
  EXPECT_EQ(counter["sum"]["aggregationTemporality"], 2);
  EXPECT_EQ(counter["sum"]["dataPoints"][0]["asDouble"], 1.5);
  EXPECT_EQ(counter["sum"]["dataPoints"][0]["startTimeUnixNano"], "1000");
}

TEST(Otlp, CountersStartWithWhoCounts) {
  auto families = read_exposition(
      "# HELP ttmem_self_start_time_seconds a\n# TYPE ttmem_self_start_time_seconds gauge\n"
      "ttmem_self_start_time_seconds 8.5\n"
      "# HELP ttmem_process_start_time_seconds b\n# TYPE ttmem_process_start_time_seconds gauge\n"
      "ttmem_process_start_time_seconds{pid=\"7\",start=\"1\",segment=\"a\"} 3\n"
      "# HELP ttmem_process_dispatches_total c\n# TYPE ttmem_process_dispatches_total counter\n"
      "ttmem_process_dispatches_total{pid=\"7\",start=\"1\",segment=\"a\",kind=\"all\"} 5\n"
      "ttmem_process_dispatches_total{pid=\"7\",start=\"1\",segment=\"b\",kind=\"all\"} 6\n"
      "# HELP ttmem_self_requests_total d\n# TYPE ttmem_self_requests_total counter\n"
      "ttmem_self_requests_total 2\n"
      "# HELP ttmem_push_sent_total e\n# TYPE ttmem_push_sent_total counter\n"
      "ttmem_push_sent_total 1\n");
  ASSERT_TRUE(families);
  const auto request =
      nlohmann::json::parse(otlp_json({{}, std::move(*families), 11'000'000'000, 12'000'000'000}));
  const auto& metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
  const auto start = [&](const char* name, std::size_t point) {
    return metric(metrics, name)["sum"]["dataPoints"][point]["startTimeUnixNano"];
  };
  EXPECT_EQ(start("ttmem.process_dispatches", 0), "3000000000");
  EXPECT_EQ(start("ttmem.process_dispatches", 1), "8500000000") << "of another one";
  EXPECT_EQ(start("ttmem.self_requests", 0), "8500000000");
  EXPECT_EQ(start("ttmem.push_sent", 0), "11000000000");
}

TEST(Otlp, DramGoesByTheConventionsForHardware) {
  const auto request = nlohmann::json::parse(otlp_json(document()));
  const auto& metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
  const auto& usage = metric(metrics, "hw.gpu.memory.usage");
  EXPECT_EQ(usage["sum"]["isMonotonic"], false);
  ASSERT_EQ(usage["sum"]["dataPoints"].size(), 1u);
  EXPECT_EQ(usage["sum"]["dataPoints"][0]["asInt"], "50");
  EXPECT_EQ(usage["sum"]["dataPoints"][0]["attributes"][0]["value"]["stringValue"], "0x1");
  EXPECT_EQ(metric(metrics, "hw.gpu.memory.limit")["sum"]["dataPoints"][0]["asInt"], "200");
  EXPECT_EQ(metric(metrics, "hw.gpu.memory.utilization")["gauge"]["dataPoints"][0]["asDouble"],
            0.25);
}

TEST(Otlp, AttributesOfTheEnvironment) {
  EXPECT_EQ(parse_attributes("a=b, c = d%2Ce ,,bad,=x,f="),
            (Attributes{{"a", "b"}, {"c", "d,e"}, {"f", ""}}));
  EXPECT_TRUE(parse_attributes("").empty());
}

TEST(Push, ThePauseGrowsWithFailuresAndEnds) {
  using std::chrono::milliseconds;
  PushState state;
  EXPECT_EQ(state.pause(milliseconds(1000)), milliseconds(1000));
  state.in_a_row = 1;
  EXPECT_EQ(state.pause(milliseconds(1000)), milliseconds(1000));
  state.in_a_row = 4;
  EXPECT_EQ(state.pause(milliseconds(1000)), milliseconds(8000));
  state.in_a_row = 100000;
  EXPECT_EQ(state.pause(milliseconds(1000)), milliseconds(300000));
  EXPECT_EQ(state.pause(milliseconds(600000)), milliseconds(600000));
}

TEST(Push, TheImportPathNamesTheHost) {
  EXPECT_EQ(import_path("", "n 1"),
            "/api/v1/import/prometheus?extra_label=instance=n%201&extra_label=job=ttmem");
  // Without it, two hosts that push to one address would write one series.
  EXPECT_EQ(import_path("/insert/0/prometheus/api/v1/import/prometheus", "n1"),
            "/insert/0/prometheus/api/v1/import/prometheus"
            "?extra_label=instance=n1&extra_label=job=ttmem");
  EXPECT_EQ(import_path("/write?extra_label=rack=7", "n1"),
            "/write?extra_label=rack=7&extra_label=instance=n1&extra_label=job=ttmem");
  EXPECT_EQ(import_path("/write?extra_label=instance=other", "n1"),
            "/write?extra_label=instance=other");
}

}  // namespace
}  // namespace ttmem::fleet
