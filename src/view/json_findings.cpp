// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/explain_text.hpp"
#include "view/json_values.hpp"
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

}  // namespace ttmem::view
