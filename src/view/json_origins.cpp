// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
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
          {"buffers", view.buffers}};
}

void add_bytes(Json& value, const ledger::OriginTotal& row) {
  for (const ledger::Space which : ledger::kDeviceSpaces) {
    value[std::string(name(which))] = space(row.space(which));
  }
  value["program_l1"] = row.program_l1;
  value["kernels"] = row.kernels;
  value["programs"] = row.programs;
}

Json origin(const ledger::OriginTotal& row) {
  Json value = {{"name", text_or_null(fmt::format("{}", fmt::join(row.path, " > ")))},
                {"path", row.path},
                {"pids", row.pids}};
  add_bytes(value, row);
  return value;
}

}  // namespace
}  // namespace json

std::string origins_json(const ledger::Snapshot& snapshot, const Origins& origins,
                         JsonLayout layout) {
  json::Json document = json::head("origins", snapshot);
  document["by"] = name(origins.question.by);
  document["device"] = json::or_null(origins.question.device);
  document["origins"] = json::Json::array();
  ledger::OriginTotal total;
  for (const ledger::OriginTotal& row : origins.rows) {
    document["origins"].push_back(json::origin(row));
    ledger::add_to(total, row);
  }
  document["total"] = json::Json::object();
  json::add_bytes(document["total"], total);
  return json::text(document, layout);
}

}  // namespace ttmem::view
