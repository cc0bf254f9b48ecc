// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace json {
namespace {

Json config_bytes(const ledger::ProgramView& program) {
  Json value = Json::object();
  const RingBytes known = known_ring_bytes(program);
  for (std::size_t type = 0; type < known.size(); ++type) {
    value[std::string(name(static_cast<ledger::CoreType>(type)))] = or_null(known[type]);
  }
  return value;
}

Json program(const ledger::ProgramView& view) {
  const bool has_rate = view.dispatches_per_second > 0;
  Json value = Json::object();
  add_process(value, *view.process);
  value.update(
      {{"id", id_text(view.id)},
       {"workload", view.workload == 0 ? Json(nullptr) : id_text(view.workload)},
       {"name", text_or_null(view.name)},
       {"line", text_or_null(view.line)},
       {"operation", text_or_null(view.operation)},
       {"region", text_or_null(view.region)},
       {"stack", stack_or_null(view.stack)},
       {"type", name(view.type)},
       {"loaded", view.loaded},
       {"devices", view.devices},
       {"kernels", view.kernels},
       {"cores", or_null(known_cores(view))},
       {"core_set", text_or_null(view.core_set)},
       {"footprint", view.footprint},
       {"l1_allocated", view.l1_allocated},
       {"l1_largest_core", or_null(known_l1_per_core(view))},
       {"views", view.views},
       {"config_bytes", config_bytes(view)},
       {"dispatches", or_null(view.dispatches)},
       {"cache_hits", or_null(view.cache_hits)},
       {"reloads", or_null(view.reloads)},
       {"registered_ns", time_or_null(view.registered)},
       {"first_dispatch_ns", time_or_null(view.first_dispatch)},
       {"last_dispatch_ns", time_or_null(view.last_dispatch)},
       {"dispatches_per_second", has_rate ? Json(view.dispatches_per_second) : Json(nullptr)},
       {"replays", or_null(view.replays)},
       {"recent_per_second", or_null(view.recent_per_second)},
       {"in_ring", or_null(view.in_ring)}});
  return value;
}

}  // namespace

Json failure(const ledger::FailureView& view) {
  Json devices = Json::array();
  for (const std::uint64_t device : view.devices) devices.push_back(unique_id_text(device));
  return {{"number", view.number},
          {"kind", view.kind},
          {"time_ns", time_or_null(view.time)},
          {"message", text_or_null(view.message)},
          {"requested", or_null(view.requested)},
          {"per_bank", or_null(view.per_bank)},
          {"space", view.space ? Json(name(*view.space)) : Json(nullptr)},
          {"program", view.program ? id_text(*view.program) : Json(nullptr)},
          {"devices", std::move(devices)},
          {"cores", text_or_null(view.cores)},
          {"operation", text_or_null(view.operation)},
          {"line", text_or_null(view.line)},
          {"region", text_or_null(view.region)},
          {"stack", stack_or_null(view.stack)},
          {"holdings", view.holdings},
          {"truncated", view.truncated}};
}

}  // namespace json

std::string programs_json(const ledger::Snapshot& snapshot,
                          const std::vector<ledger::ProgramView>& programs, JsonLayout layout,
                          AnswerShares* shares) {
  json::Json document = json::head("programs", snapshot);
  document["programs"] = json::Json::array();
  for (const auto& each : programs) {
    json::add_row(document["programs"], json::program(each), each.process->key, shares);
  }
  document["left_out"] = json::left_out(shares);
  return json::text(document, layout);
}

std::string failures_json(const ledger::Snapshot& snapshot,
                          const std::vector<ProcessFailure>& failures, JsonLayout layout,
                          AnswerShares* shares) {
  json::Json document = json::head("failures", snapshot);
  document["failures"] = json::Json::array();
  for (const ProcessFailure& each : failures) {
    json::Json value = json::Json::object();
    json::add_process(value, each.process);
    value["alive"] = each.process.alive;
    value.update(json::failure(each.failure));
    value["picture"] = nullptr;
    if (each.picture) {
      value["picture"] = json::Json::array();
      for (const auto& held : *each.picture) value["picture"].push_back(json::holding(held));
    }
    json::add_row(document["failures"], std::move(value), each.process.key, shares);
  }
  document["left_out"] = json::left_out(shares);
  return json::text(document, layout);
}

}  // namespace ttmem::view
