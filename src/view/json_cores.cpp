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

Json core_kernel(const ledger::CoreKernel& view) {
  Json value = Json::object();
  add_process(value, view.owner ? *view.owner : *ledger::nobody());
  value.update({{"name", text_or_null(view.name)},
                {"program", text_or_null(view.program)},
                {"type", name(view.type)},
                {"processor", ledger::processor_name(view.processor)},
                {"bytes", view.bytes}});
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
                {"free", view.l1_bytes ? Json(view.free) : Json()},
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
                {"map", nullptr},
                {"kernels", nullptr}};
  if (with_map) {
    value["map"] = Json::array();
    for (const auto& each : view.map) value["map"].push_back(stretch(each));
    value["kernels"] = Json::array();
    for (const auto& each : view.kernels) value["kernels"].push_back(core_kernel(each));
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

}  // namespace
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

}  // namespace ttmem::view
