// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/explain_text.hpp"
#include "view/json_values.hpp"
#include "view/live_text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace json {
namespace {

using ledger::name;

Json origin(const ledger::HeldOrigin& held) {
  return {{"operation", text_or_null(held.operation)},
          {"line", text_or_null(held.line)},
          {"region", text_or_null(held.region)}};
}

Json bank_sum(const explain::BankSum& sum) {
  return {{"asked", or_null(sum.asked)},
          {"held", or_null(sum.held)},
          {"holes", or_null(sum.holes)},
          {"largest_hole", or_null(sum.largest_hole)},
          {"bank", or_null(sum.bank)},
          {"banks", sum.banks == 0 ? Json(nullptr) : Json(sum.banks)},
          {"figures_from", text_or_null(sum.figures_from)}};
}

Json strip(const explain::Strip& part) {
  return {{"kind", name(part.kind)}, {"begin", part.range.begin},
          {"end", part.range.end},   {"blocks", part.blocks},
          {"free", part.free},       {"name", text_or_null(part.name)}};
}

Json clash(const explain::ClashSides& sides) {
  return {{"program", text_or_null(sides.program)},
          {"program_line", text_or_null(sides.program_line)},
          {"cores", text_or_null(sides.cores)},
          {"region_end", or_null(sides.region_end)},
          {"lowest_buffer", or_null(sides.lowest_buffer)},
          {"overlap", or_null(sides.overlap)},
          {"buffer", origin(sides.buffer)},
          {"buffer_bytes", or_null(sides.buffer_bytes)}};
}

Json holder(const explain::Holder& held) {
  Json value = origin(held.origin);
  value["kind"] = name(held.kind);
  value["bytes"] = held.bytes;
  value["taken"] = held.taken;
  value["count"] = held.count;
  value["lowest"] = held.lowest;
  value["oldest_ns"] = time_or_null(held.oldest);
  value["newest_ns"] = time_or_null(held.newest);
  value["last_use_ns"] = time_or_null(held.last_use);
  return value;
}

Json cure(const explain::Cure& each, const std::map<std::string, std::string>& sources) {
  const auto source = sources.find(each.line);
  return {{"kind", name(each.kind)},
          {"text", each.text},
          {"call", text_or_null(each.call)},
          {"line", text_or_null(each.line)},
          {"source", source == sources.end() ? Json(nullptr) : Json(source->second)},
          {"given", text_or_null(each.given)},
          {"frees", or_null(each.frees)},
          {"hole", or_null(each.hole)},
          {"to_spare", or_null(each.to_spare)},
          {"value", or_null(each.value)},
          {"addresses", each.addresses}};
}

Json growth(const explain::Growth& each) {
  return {{"seconds", each.seconds},
          {"changes", each.changes},
          {"held_per_second", each.held_per_second},
          {"fall_per_second", each.fall_per_second}};
}

Json space_now(const explain::SpaceNow& each) {
  const bool known = each.sum.held.has_value();
  Json value = {{"space", name(each.space)},
                {"sum", bank_sum(each.sum)},
                {"holes", known ? Json(each.holes) : Json(nullptr)},
                {"scattered", or_null(each.scattered)},
                {"lowest_buffer", or_null(each.lowest_buffer)},
                {"growth", each.growth ? growth(*each.growth) : Json(nullptr)},
                {"full_after_s", or_null(each.full_after)},
                {"holders", Json::array()},
                {"holders_left_out", each.holders_left_out}};
  for (const auto& held : each.holders) value["holders"].push_back(holder(held));
  return value;
}

Json next_clash(const explain::NextClash& next) {
  return {{"program", text_or_null(next.program)},     {"line", text_or_null(next.line)},
          {"cores", text_or_null(next.cores)},         {"region_end", next.region_end},
          {"lowest_buffer", next.lowest_buffer},       {"headroom", next.headroom},
          {"clash_after_s", or_null(next.clash_after)}};
}

Json explained_process(const ExplainedProcess& process) {
  const explain::LiveFindings& all = process.findings;
  Json value = Json::object();
  add_process(value, *process.process);
  value["headline"] = all.headline;
  value["spaces"] = Json::array();
  for (const auto& each : all.spaces) value["spaces"].push_back(space_now(each));
  value["next"] = all.next ? next_clash(*all.next) : Json(nullptr);
  value["moves"] = Json::array();
  for (const auto& each : all.moves) value["moves"].push_back(cure(each, process.sources));
  value["unknown"] = all.unknown;
  return value;
}

}  // namespace

Json findings(const explain::Findings& all, const std::map<std::string, std::string>& sources) {
  Json value = {{"verdict", name(all.verdict)},
                {"headline", all.headline},
                {"space", all.space ? Json(name(*all.space)) : Json(nullptr)},
                {"sum", bank_sum(all.sum)},
                {"picture", all.picture.empty() ? Json(nullptr) : Json::array()},
                {"clash", all.clash ? clash(*all.clash) : Json(nullptr)},
                {"holders", Json::array()},
                {"holders_left_out", all.holders_left_out},
                {"cures", Json::array()},
                {"remarks", all.remarks},
                {"unknown", all.unknown}};
  for (const auto& each : all.picture) value["picture"].push_back(strip(each));
  for (const auto& each : all.holders) value["holders"].push_back(holder(each));
  for (const auto& each : all.cures) value["cures"].push_back(cure(each, sources));
  return value;
}

}  // namespace json

std::string explain_json(const ledger::Snapshot& snapshot, const ExplainedFailure& failed,
                         JsonLayout layout) {
  json::Json document = json::head("explain", snapshot);
  json::add_process(document, failed.process);
  document["alive"] = failed.process.alive;
  document["failure"] = json::failure(failed.failure);
  document.update(json::findings(failed.findings, failed.sources));
  return json::text(document, layout);
}

std::string live_json(const ledger::Snapshot& snapshot, const ExplainedDevice& device,
                      JsonLayout layout) {
  json::Json document = json::head("live", snapshot);
  document["device"] = device.device;
  document["processes"] = json::Json::array();
  for (const ExplainedProcess& each : device.processes) {
    document["processes"].push_back(json::explained_process(each));
  }
  return json::text(document, layout);
}

}  // namespace ttmem::view
