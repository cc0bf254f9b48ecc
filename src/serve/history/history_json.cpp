// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/history_json.hpp"

#include "view/json_values.hpp"
#include "view/units.hpp"

namespace ttmem::serve::history {
namespace {

using view::json::Json;
using view::json::or_null;
using view::json::text_or_null;
using view::json::time_or_null;

Json head(std::string_view document) {
  return {{"schema", view::kJsonSchema}, {"document", document}};
}

std::string_view name(Subject subject) {
  return subject == Subject::kDevice ? "device" : "process";
}

Json column(const std::vector<Point>& points, std::optional<std::int64_t> Point::* which) {
  Json values = Json::array();
  for (const Point& point : points) values.push_back(or_null(point.*which));
  return values;
}

Json series(const Series& each, Subject subject) {
  const bool of_device = subject == Subject::kDevice;
  const auto unless = [](bool absent, Json value) { return absent ? Json() : std::move(value); };
  return {{"device", or_null(each.device)},
          {"unique_id", unless(!of_device, Json(view::unique_id_text(each.unique_id)))},
          {"run", or_null(each.run)},
          {"pid", unless(of_device, Json(each.pid))},
          {"process", unless(of_device, text_or_null(each.process))},
          {"min", column(each.points, &Point::min)},
          {"max", column(each.points, &Point::max)},
          {"last", column(each.points, &Point::last)}};
}

Json run_device(const RunDevice& device) {
  return {{"device", device.device},
          {"unique_id", view::unique_id_text(device.unique_id)},
          {"peak_dram", or_null(device.peak_dram)},
          {"peak_l1", or_null(device.peak_l1)},
          {"peak_l1_small", or_null(device.peak_l1_small)},
          {"peak_trace", or_null(device.peak_trace)},
          {"peak_program_l1", or_null(device.peak_program_l1)}};
}

Json run(const Run& each) {
  Json value = {{"id", each.id},
                {"pid", each.pid},
                {"start", each.start},
                {"boot_id", each.boot_id},
                {"name", each.name},
                {"user", text_or_null(each.user)},
                {"uid", each.uid},
                {"started_ns", time_or_null(each.started)},
                {"first_seen_ns", time_or_null(each.first_seen)},
                {"ended_ns", time_or_null(each.ended_at)},
                {"ended", text_or_null(each.ended)},
                {"failures", each.failures},
                {"devices", Json::array()}};
  for (const RunDevice& device : each.devices) value["devices"].push_back(run_device(device));
  return value;
}

}  // namespace

std::string answer_json(const Answer& answer) {
  Json document = head("history");
  document["metric"] = answer.metric.name;
  document["unit"] = answer.metric.unit;
  document["from_s"] = answer.from_s;
  document["to_s"] = answer.to_s;
  document["step_s"] = answer.step_s;
  document["series"] = Json::array();
  for (const Series& each : answer.series) {
    document["series"].push_back(series(each, answer.metric.subject));
  }
  return view::json::text(document, view::JsonLayout::kCompact);
}

std::string runs_json(const std::vector<Run>& runs) {
  Json document = head("runs");
  document["runs"] = Json::array();
  for (const Run& each : runs) document["runs"].push_back(run(each));
  return view::json::text(document, view::JsonLayout::kCompact);
}

std::string metrics_json() {
  Json document = head("history_metrics");
  document["metrics"] = Json::array();
  for (const MetricInfo& each : metrics()) {
    document["metrics"].push_back({{"name", each.name},
                                   {"unit", each.unit},
                                   {"subject", name(each.subject)},
                                   {"help", each.help}});
  }
  return view::json::text(document, view::JsonLayout::kCompact);
}

}  // namespace ttmem::serve::history
