// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <cstdint>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::view {
namespace json {
namespace {

Json space(const ledger::OriginSpace& view) {
  // Nothing there is known to be nothing.
  const ledger::Figure none = view.buffers == 0 ? ledger::Figure(0) : ledger::Figure();
  return {{"taken", or_null(view.taken ? view.taken : none)},
          {"recent", or_null(view.recent ? view.recent : none)},
          {"buffers", view.buffers},
          {"at_peak", or_null(view.at_peak)}};
}

void add_bytes(Json& value, const ledger::OriginTotal& row) {
  for (const ledger::Space which : ledger::kDeviceSpaces) {
    value[std::string(name(which))] = space(row.space(which));
  }
  value["program_l1"] = row.program_l1;
  value["kernels"] = row.kernels;
  value["programs"] = row.programs;
}

// Each once: two containers may have a process 1.
std::set<std::int32_t> pids(const ledger::OriginTotal& row) {
  std::set<std::int32_t> numbers;
  for (const ledger::Owner& owner : row.processes) numbers.insert(owner->pid);
  return numbers;
}

Json processes(const ledger::OriginTotal& row) {
  Json list = Json::array();
  for (const ledger::Owner& owner : row.processes) add_process(list.emplace_back(), *owner);
  return list;
}

Json origin(const ledger::OriginTotal& row) {
  Json value = {{"name", text_or_null(fmt::format("{}", fmt::join(row.path, " > ")))},
                {"path", row.path},
                {"derived", row.derived},
                {"pids", pids(row)},
                {"processes", processes(row)}};
  add_bytes(value, row);
  return value;
}

Json peak(const ledger::OriginPeak& view) {
  Json value = Json::object();
  add_process(value, *view.process);
  value["devices"] = view.devices;
  value["space"] = name(view.space);
  value["time_ns"] = time_or_null(view.time);
  value["bytes"] = view.bytes;
  value["in_rows"] = view.in_rows;
  return value;
}

}  // namespace
}  // namespace json

std::string origins_json(const ledger::Snapshot& snapshot, const Origins& origins,
                         JsonLayout layout, AnswerShares* shares) {
  json::Json document = json::head("origins", snapshot);
  document["by"] = name(origins.question.by);
  document["device"] = json::or_null(origins.question.device);
  document["origins"] = json::Json::array();
  ledger::OriginTotal total;
  for (const ledger::OriginTotal& row : origins.totals.rows) {
    const std::uint64_t process = row.processes.empty() ? 0 : row.processes.front()->key;
    json::add_row(document["origins"], json::origin(row), process, shares);
    ledger::add_to(total, row);
  }
  document["left_out"] = json::left_out(shares);
  document["total"] = json::Json::object();
  json::add_bytes(document["total"], total);
  document["peaks"] = json::Json::array();
  for (const ledger::OriginPeak& each : origins.totals.peaks) {
    document["peaks"].push_back(json::peak(each));
  }
  return json::text(document, layout);
}

}  // namespace ttmem::view
