// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The page of a report has its figures inside, made of the documents of docs/json.md and drawn by
// the parts of web/ that draw the daemon's page. They are for this page alone, of this version.
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "report/report.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"

// Made by scripts/page. NOLINTNEXTLINE(readability-identifier-naming): a name of the linker
extern "C" const char ttmem_report_page[], ttmem_report_page_end[];

namespace ttmem::report {
namespace {

using view::json::Json;

// Where the figures go, in web/report.html.
constexpr std::string_view kPlace = "{\"ttmem\":\"the figures stand here\"}";

Json document(const std::string& text) { return Json::parse(text); }

Json rows_json(const HeldList& list, bool stacks) {
  Json rows = Json::array();
  for (const Held& row : list.rows) {
    Json value = stacks ? Json{{"path", row.path}}
                        : Json{{"name", row.path.empty() ? Json(nullptr) : Json(row.path.back())}};
    value["bytes"] = row.bytes;
    value["buffers"] = row.buffers == 0 ? Json(nullptr) : Json(row.buffers);
    rows.push_back(std::move(value));
  }
  return {{"rows", std::move(rows)}, {"others", list.others}, {"other_bytes", list.other_bytes}};
}

Json peak_json(const SpacePeak& peak) {
  return {{"space", name(peak.space)},
          {"time_ns", view::json::time_or_null(peak.time)},
          {"bytes", peak.bytes},
          {"capacity", view::json::or_null(peak.capacity)},
          {"lines", rows_json(peak.lines, false)},
          {"stacks", rows_json(peak.stacks, true)}};
}

Json curve_json(const collect::Outline& outline) {
  Json spaces = Json::object();
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    Json& values = spaces[std::string(name(space))] = Json::array();
    for (const auto& part : outline.parts) values.push_back(part[static_cast<std::size_t>(space)]);
  }
  return {{"first_ns", outline.first}, {"last_ns", outline.last}, {"most", std::move(spaces)}};
}

Json marks_json(const collect::Outline& outline) {
  Json marks = Json::array();
  for (const collect::Mark& mark : outline.marks) {
    if (mark.kind != collect::Mark::Kind::kFailure) continue;
    marks.push_back({{"time_ns", mark.time}, {"pid", mark.pid}, {"number", mark.number}});
  }
  return marks;
}

Json l1_json(const Report& report) {
  if (!report.l1) return nullptr;
  const TightestCore& l1 = *report.l1;
  const auto cores = [&](std::vector<ledger::CoreView> of, bool with_map) {
    const view::DeviceCores device{l1.device, l1.unique_id, std::move(of)};
    return document(view::cores_json(report.end, {device}, with_map,
                                     view::JsonLayout::kCompact))["devices"][0]["cores"];
  };
  Json holdings = Json::array();
  for (const auto& each : l1.holdings) holdings.push_back(view::json::holding(each));
  return {{"device", l1.device},
          {"time_ns", l1.time},
          {"cores", cores(l1.cores, false)},
          {"core", cores({*l1.core}, true)[0]},
          {"holdings", std::move(holdings)}};
}

Json processes_json(const Report& report) {
  Json processes = Json::array();
  for (ledger::ProcessView process : report.end.processes) {
    process.failures.clear();  // they have a place of their own
    processes.push_back(view::json::process(process, view::json::ProcessDetail::kBrief));
  }
  return processes;
}

Json document_of(const Report& report) {
  constexpr auto kCompact = view::JsonLayout::kCompact;
  Json all = view::json::head("report", report.end);
  all["version"] = TTMEM_VERSION;
  all["of"] = report.of;
  all["recorded"] = report.recorded;
  all["summary"] = report.summary;
  all["curve"] = curve_json(report.outline);
  all["failed"] = marks_json(report.outline);
  all["peaks"] = Json::array();
  for (const SpacePeak& peak : report.peaks) all["peaks"].push_back(peak_json(peak));
  all["devices"] = Json::array();
  for (const auto& device : report.devices) all["devices"].push_back(view::json::device(device));
  all["other_devices"] = report.other_devices;
  all["processes"] = processes_json(report);
  all["other_processes"] = report.other_processes;
  all["l1"] = l1_json(report);
  all["programs"] =
      document(view::programs_json(report.end, report.programs, kCompact))["programs"];
  all["other_programs"] = report.other_programs;
  std::vector<ledger::ProgramView> launched;
  for (const auto& each : report.programs) {
    if (each.launches && !each.launches->intervals.empty()) launched.push_back(each);
  }
  all["launches"] = document(view::launches_json(report.end, launched, kCompact));
  all["failures"] = Json::array();
  for (const auto& each : report.failures) {
    all["failures"].push_back(document(view::explain_json(report.end, each, kCompact)));
  }
  all["other_failures"] = report.other_failures;
  return all;
}

// Nothing in it ends the script that it stands in, or begins a comment of HTML.
std::string inside_script(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string html(const Report& report) {
  std::string page(ttmem_report_page, ttmem_report_page_end);
  const std::size_t place = page.find(kPlace);
  TTMEM_CHECK(place != std::string::npos);
  const std::string json = view::json::text(document_of(report), view::JsonLayout::kCompact);
  return page.replace(place, kPlace.size(), inside_script(json));
}

}  // namespace ttmem::report
