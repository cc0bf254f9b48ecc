// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace json {
namespace {

constexpr std::uint8_t kUnknownNoc = 255;

Json noc(std::uint8_t coordinate) {
  return coordinate == kUnknownNoc ? Json(nullptr) : Json(coordinate);
}

Json stretch(const ledger::CoreStretch& view) {
  const ledger::ProcessName* owner = view.owner.get();
  return {{"kind", name(view.kind)},
          {"begin", view.begin},
          {"end", view.end},
          {"name", text_or_null(view.name)},
          {"owner", owner == nullptr ? Json(nullptr) : Json(owner->name)},
          {"pid", owner == nullptr ? Json(nullptr) : Json(owner->pid)},
          {"start", owner == nullptr ? Json(nullptr) : Json(owner->start)},
          {"segment", owner == nullptr ? Json(nullptr) : text_or_null(owner->segment)}};
}

Json clash(const std::optional<ledger::Clash>& view) {
  if (!view) return nullptr;
  Json value = {{"program", text_or_null(view->program)}, {"buffer", text_or_null(view->buffer)}};
  add_process(value, *view->process);
  return value;
}

Json core(const ledger::CoreView& view, bool with_map) {
  Json value = {{"type", name(view.core.type)},
                {"x", view.core.x},
                {"y", view.core.y},
                {"role", name(view.role)},
                {"noc_x", noc(view.noc_x)},
                {"noc_y", noc(view.noc_y)},
                {"l1_bytes", or_null(view.l1_bytes)},
                {"fixed", view.fixed},
                {"ring", view.ring},
                {"program_l1", view.program_l1},
                {"gaps", view.gaps},
                {"free", view.free},
                {"buffers", view.buffers},
                {"l1_small", view.l1_small},
                {"buffers_occupied", view.buffers_occupied},
                {"l1_small_taken", view.l1_small_taken},
                {"l1_small_occupied", view.l1_small_occupied},
                {"headroom", or_null(view.headroom)},
                {"headroom_reserved", or_null(view.headroom_reserved)},
                {"clash", clash(view.clash)},
                {"reserved", view.reserved},
                {"kernel_footprint", view.kernel_footprint},
                {"ring_used", view.ring_used},
                {"map", nullptr}};
  if (with_map) {
    value["map"] = Json::array();
    for (const auto& each : view.map) value["map"].push_back(stretch(each));
  }
  return value;
}

Json bank_map(const ledger::BankMap& map) {
  Json blocks = Json::array(), free = Json::array();
  for (const ledger::BankBlock& block : map.blocks) {
    Json value = {{"begin", block.begin}, {"end", block.end}, {"id", id_text(block.id)}};
    add_process(value, *block.process);
    value.update({{"operation", text_or_null(block.operation)},
                  {"line", text_or_null(block.line)},
                  {"since_ns", time_or_null(block.since)}});
    blocks.push_back(std::move(value));
  }
  for (const ledger::AddressRange& range : map.free) {
    free.push_back({{"begin", range.begin}, {"end", range.end}});
  }
  return {{"space", name(map.space)},     {"banks", map.banks},
          {"begin", map.begin},           {"end", map.end},
          {"blocks", std::move(blocks)},  {"truncated", map.truncated},
          {"free_bytes", map.free_bytes}, {"free_blocks", map.free_blocks},
          {"free", std::move(free)}};
}

Json config_bytes(const ledger::ProgramView& program) {
  Json value = Json::object();
  for (std::size_t type = 0; type < ledger::kCoreTypes; ++type) {
    value[std::string(name(static_cast<ledger::CoreType>(type)))] = program.config_bytes[type];
  }
  return value;
}

Json program(const ledger::ProgramView& view) {
  const bool has_rate = view.dispatches_per_second > 0;
  Json value;
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
       {"cores", view.cores},
       {"core_set", text_or_null(view.core_set)},
       {"footprint", view.footprint},
       {"l1_allocated", view.l1_allocated},
       {"l1_largest_core", view.l1_largest_core},
       {"views", view.views},
       {"config_bytes", config_bytes(view)},
       {"dispatches", view.dispatches},
       {"cache_hits", view.cache_hits},
       {"reloads", view.reloads},
       {"registered_ns", time_or_null(view.registered)},
       {"first_dispatch_ns", time_or_null(view.first_dispatch)},
       {"last_dispatch_ns", time_or_null(view.last_dispatch)},
       {"dispatches_per_second", has_rate ? Json(view.dispatches_per_second) : Json(nullptr)}});
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

std::string cores_json(const ledger::Snapshot& snapshot, const std::vector<DeviceCores>& devices,
                       bool with_map, JsonLayout layout) {
  json::Json document = json::head("cores", snapshot);
  document["devices"] = json::Json::array();
  for (const DeviceCores& device : devices) {
    json::Json cores = json::Json::array();
    for (const auto& each : device.cores) cores.push_back(json::core(each, with_map));
    document["devices"].push_back({{"id", device.id},
                                   {"unique_id", unique_id_text(device.unique_id)},
                                   {"cores", std::move(cores)}});
  }
  return json::text(document, layout);
}

std::string banks_json(const ledger::Snapshot& snapshot, const DeviceBanks& device,
                       JsonLayout layout) {
  json::Json document = json::head("banks", snapshot);
  document["id"] = device.id;
  document["unique_id"] = unique_id_text(device.unique_id);
  document["spaces"] = json::Json::array();
  for (const ledger::BankMap& map : device.spaces) {
    document["spaces"].push_back(json::bank_map(map));
  }
  return json::text(document, layout);
}

std::string programs_json(const ledger::Snapshot& snapshot,
                          const std::vector<ledger::ProgramView>& programs, JsonLayout layout) {
  json::Json document = json::head("programs", snapshot);
  document["programs"] = json::Json::array();
  for (const auto& each : programs) document["programs"].push_back(json::program(each));
  return json::text(document, layout);
}

std::string failures_json(const ledger::Snapshot& snapshot,
                          const std::vector<ProcessFailure>& failures, JsonLayout layout) {
  json::Json document = json::head("failures", snapshot);
  document["failures"] = json::Json::array();
  for (const ProcessFailure& each : failures) {
    json::Json value;
    json::add_process(value, each.process);
    value["alive"] = each.process.alive;
    value.update(json::failure(each.failure));
    value["picture"] = nullptr;
    if (each.picture) {
      value["picture"] = json::Json::array();
      for (const auto& held : *each.picture) value["picture"].push_back(json::holding(held));
    }
    document["failures"].push_back(std::move(value));
  }
  return json::text(document, layout);
}

}  // namespace ttmem::view
