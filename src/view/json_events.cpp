// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace json {
namespace {

using ledger::EventKind;

// Which fields belong to an event of this kind; the others are null.
struct EventFields {
  explicit EventFields(EventKind kind)
      : buffer(kind == EventKind::kBufferAllocated || kind == EventKind::kBufferFreed ||
               kind == EventKind::kBufferChanged),
        program(kind >= EventKind::kProgramRegistered && kind <= EventKind::kProgramReleased),
        workload(kind >= EventKind::kWorkloadCreated && kind <= EventKind::kWorkloadReleased),
        trace(kind >= EventKind::kTraceBegun && kind <= EventKind::kTraceReleased),
        gap(kind == EventKind::kGap),
        ended(kind == EventKind::kProcessEnded),
        failed(kind == EventKind::kFailed),
        anomaly(kind == EventKind::kAnomaly),
        launch(kind == EventKind::kLaunched),
        step(kind == EventKind::kStep) {}
  bool buffer, program, workload, trace, gap, ended, failed, anomaly, launch, step;
  // 0 is an id like any other: the runtime numbers its buffers from 0.
  bool id() const { return buffer || program || workload || trace; }
};

Json id_or_null(std::uint64_t id) { return id == 0 ? Json(nullptr) : id_text(id); }

Json device(const ledger::EventDevice& view) {
  return {{"id", view.id},
          {"unique_id", unique_id_text(view.unique_id)},
          {"kernels_footprint", view.kernels_footprint},
          {"kernels_estimated", view.kernels_estimated},
          {"program_l1_allocated", view.program_l1_allocated}};
}

Json kernel(const ledger::EventKernel& view) {
  return {{"name", text_or_null(view.name)},
          {"source", text_or_null(view.source)},
          {"core_type", name(view.core_type)},
          {"processor", text_or_null(ledger::processor_name(view.processor))},
          {"packed", view.packed_bytes},
          {"cores", view.cores == 0 ? Json(nullptr) : Json(view.cores)},
          {"footprint", view.footprint}};
}

Json kernels(const std::vector<ledger::EventKernel>& views) {
  Json value = Json::array();
  for (const auto& each : views) value.push_back(kernel(each));
  return value;
}

Json devices(const std::vector<ledger::EventDevice>& views) {
  Json value = Json::array();
  for (const auto& each : views) value.push_back(device(each));
  return value;
}

// What could not be matched is mostly named by its id, which may be 0.
Json unknown_id(const ledger::EventView& event, const EventFields& has) {
  if (!has.anomaly) return nullptr;
  return ledger::is_about_a_buffer(event.reason) ? id_text(event.unknown_id)
                                                 : id_or_null(event.unknown_id);
}

void add_what(Json& value, const ledger::EventView& event, const EventFields& has) {
  value["id"] = has.id() ? id_text(event.id) : id_or_null(event.id);
  value["workload"] = id_or_null(event.workload);
  value["name"] = text_or_null(event.name);
  value["operation"] = text_or_null(event.operation);
  value["operation_is_derived"] = if_has(has.buffer, event.operation_is_derived);
  value["line"] = text_or_null(event.line);
  value["region"] = text_or_null(event.region);
  value["stack"] = stack_or_null(event.stack);
}

void add_buffer(Json& value, const ledger::EventView& event, const EventFields& has) {
  value["space"] = if_has(has.buffer, name(event.space));
  value["layout"] = if_has(has.buffer, name(event.layout));
  value["address"] = if_has(has.buffer, event.address);
  value["requested"] = if_has(has.buffer, event.requested);
  value["block"] = or_null(event.block);
  value["taken"] = or_null(event.taken);
  value["kernel_binaries"] = if_has(has.buffer, event.kernel_binaries);
  value["estimated"] = if_has(has.buffer || has.program, event.estimated);
}

void add_program(Json& value, const ledger::EventView& event, const EventFields& has) {
  value["type"] = if_has(has.program, name(event.type));
  value["kernels"] = has.program ? kernels(event.kernels) : Json(nullptr);
  value["footprint"] = if_has(has.program, event.footprint);
  value["cores"] = or_null(event.cores);
  value["loaded_before"] = if_has(has.program, event.loaded_before);
  value["loaded_after"] = if_has(has.program, event.loaded_after);
  value["l1_before"] = if_has(has.program, event.l1_before);
  value["l1_after"] = if_has(has.program, event.l1_after);
}

void add_rest(Json& value, const ledger::EventView& event, const EventFields& has) {
  value["count"] = if_has(has.trace || has.launch || has.step, event.count);
  value["served"] = if_has(has.launch, name(event.served));
  value["missed"] = if_has(has.gap, event.missed);
  value["ended"] = if_has(has.ended, name(event.ended));
  value["failure"] = if_has(has.failed, event.failure);
  value["reason"] = text_or_null(event.reason);
  value["unknown_id"] = unknown_id(event, has);
  value["freed_buffers"] = if_has(has.ended, event.freed_buffers);
}

}  // namespace
}  // namespace json

std::string event_json(const ledger::EventView& event) {
  const json::EventFields has(event.kind);
  json::Json value = {
      {"schema", kJsonSchema}, {"document", "event"}, {"time_ns", json::time_or_null(event.time)}};
  json::add_process(value, *event.process);
  value["number"] = event.number == 0 ? json::Json(nullptr) : json::Json(event.number);
  value["event"] = name(event.kind);
  value["devices"] = json::devices(event.devices);
  json::add_what(value, event, has);
  json::add_buffer(value, event, has);
  json::add_program(value, event, has);
  json::add_rest(value, event, has);
  return json::text(value, JsonLayout::kCompact);
}

}  // namespace ttmem::view
