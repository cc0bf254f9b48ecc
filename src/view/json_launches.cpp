// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which program ran when, and what lies in the rings.
#include <array>
#include <string_view>
#include <utility>

#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace json {
namespace {

constexpr std::array<std::pair<std::uint8_t, std::string_view>, 4> kMarks = {
    {{ledger::kMarkFirstLoad, "first_load"},
     {ledger::kMarkReload, "reload"},
     {ledger::kMarkEviction, "eviction"},
     {ledger::kMarkFailure, "failure"}}};

Json marks(std::uint8_t bits) {
  Json names = Json::array();
  for (const auto& [bit, name] : kMarks) {
    if ((bits & bit) != 0) names.push_back(name);
  }
  return names;
}

Json launches(const ledger::ProgramView& program) {
  Json value = Json::object();
  add_process(value, *program.process);
  const ledger::LaunchSeries series = program.launches.value_or(ledger::LaunchSeries{});
  Json intervals = Json::array();
  for (const ledger::LaunchInterval& interval : series.intervals) {
    intervals.push_back({{"time_ns", interval.time},
                         {"launches", interval.launches},
                         {"replays", interval.replays},
                         {"marks", marks(interval.marks)}});
  }
  value.update({{"id", id_text(program.id)},
                {"workload", program.workload == 0 ? Json(nullptr) : id_text(program.workload)},
                {"name", text_or_null(program.name)},
                {"type", name(program.type)},
                {"devices", program.devices},
                {"dispatches", or_null(program.dispatches)},
                {"replays", or_null(program.replays)},
                {"recent_per_second", or_null(program.recent_per_second)},
                {"since_ns", time_or_null(series.since)},
                {"until_ns", time_or_null(series.until)},
                {"intervals", std::move(intervals)}});
  return value;
}

Json slice(const ledger::RingSliceView& view) {
  return {{"begin", view.begin},
          {"end", view.end},
          {"workload", view.workload == 0 ? Json(nullptr) : id_text(view.workload)},
          {"name", text_or_null(view.name)},
          {"live", view.live},
          {"in_use", view.in_use}};
}

Json ring_contents(const ledger::RingView& view) {
  Json value = Json::object();
  add_process(value, *view.process);
  value.update(ring(view.figures));
  value["base"] = view.base;
  value["slices"] = Json::array();
  for (const ledger::RingSliceView& each : view.slices) value["slices"].push_back(slice(each));
  return value;
}

}  // namespace
}  // namespace json

std::string launches_json(const ledger::Snapshot& snapshot,
                          const std::vector<ledger::ProgramView>& programs, JsonLayout layout,
                          AnswerShares* shares) {
  json::Json document = json::head("launches", snapshot);
  document["interval_ns"] = ledger::kLaunchIntervalNs;
  document["programs"] = json::Json::array();
  for (const auto& each : programs) {
    json::add_row(document["programs"], json::launches(each), each.process->key, shares);
  }
  document["left_out"] = json::left_out(shares);
  return json::text(document, layout);
}

std::string rings_json(const ledger::Snapshot& snapshot, const DeviceRings& device,
                       JsonLayout layout) {
  json::Json document = json::head("rings", snapshot);
  document["id"] = device.id;
  document["unique_id"] = unique_id_text(device.unique_id);
  document["rings"] = json::Json::array();
  for (const auto& each : device.rings) document["rings"].push_back(json::ring_contents(each));
  return json::text(document, layout);
}

}  // namespace ttmem::view
