// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"

namespace ttmem::view {
namespace json {
namespace {

using ledger::HoldingKind;

// Which fields belong to a holding of this kind; the others are null.
struct HoldingFields {
  explicit HoldingFields(HoldingKind kind)
      : buffer(kind == HoldingKind::kBuffer),
        kernel(kind == HoldingKind::kKernel),
        range(kind == HoldingKind::kRange),
        program(kind == HoldingKind::kProgram),
        trace(kind == HoldingKind::kTrace) {}
  bool buffer, kernel, range, program, trace;
};

Json text_if(bool has, std::string_view text) { return has ? text_or_null(text) : Json(nullptr); }

void add_place(Json& value, const ledger::HoldingView& view, const HoldingFields& has) {
  value["space"] = if_has(has.buffer, name(view.space));
  value["layout"] = if_has(has.buffer, name(view.layout));
  value["type"] = if_has(has.program || has.kernel, name(view.type));
  value["part"] = if_has(has.range, name(view.part));
  value["core_type"] = if_has(has.kernel || has.range, name(view.core_type));
  value["processor"] = text_if(has.kernel, ledger::processor_name(view.processor));
  value["address"] = or_null(ledger::known_address(view));
  value["cores"] = view.cores == 0 ? Json(nullptr) : Json(view.cores);
  value["core_set"] = text_or_null(view.core_set);
}

void add_bytes(Json& value, const ledger::HoldingView& view) {
  value["requested"] = or_null(view.requested);
  value["block"] = or_null(view.block);
  value["occupied"] = or_null(view.occupied);
  value["taken"] = or_null(view.taken);
  value["packed"] = or_null(view.packed);
  value["text"] = or_null(view.text);
  value["footprint"] = or_null(view.footprint);
  value["code"] = view.code == 0 ? Json(nullptr) : id_text(view.code);
  value["code_users"] = view.code_users == 0 ? Json(nullptr) : Json(view.code_users);
}

void add_life(Json& value, const ledger::HoldingView& view, const HoldingFields& has) {
  value["loaded"] = if_has(has.program || has.kernel, view.loaded);
  value["estimated"] = view.estimated;
  value["kernel_binaries"] = view.kernel_binaries;
  value["trace_buffer"] = view.trace_buffer;
  value["since_ns"] = time_or_null(view.since);
  value["first_dispatch_ns"] = time_or_null(view.first_dispatch);
  value["last_dispatch_ns"] = time_or_null(view.last_dispatch);
  value["dispatches"] = if_has(has.program || has.kernel || has.trace, or_null(view.dispatches));
  value["cache_hits"] = if_has(has.program || has.kernel, or_null(view.cache_hits));
  value["reloads"] = if_has(has.program || has.kernel, or_null(view.reloads));
}

}  // namespace

Json holding(const ledger::HoldingView& view) {
  const HoldingFields has(view.kind);
  Json value = {{"kind", name(view.kind)}};
  add_process(value, *view.process);
  value.update({{"alive", view.process->alive},
                {"devices", view.devices},
                {"id", id_text(view.id)},
                {"index", if_has(has.kernel || has.range, or_null(view.index))},
                {"name", text_or_null(view.name)},
                {"operation", text_or_null(view.operation)},
                {"operation_is_derived", view.operation_is_derived},
                {"device_operation", text_or_null(view.device_operation)},
                {"line", text_or_null(view.line)},
                {"region", text_or_null(view.region)},
                {"stack", stack_or_null(view.stack)},
                {"source", text_or_null(view.source)}});
  add_place(value, view, has);
  add_bytes(value, view);
  add_life(value, view, has);
  return value;
}

}  // namespace json

void holdings_json(const ledger::Snapshot& snapshot,
                   const std::vector<ledger::HoldingView>& holdings, const Sink& sink) {
  std::string head = json::text(json::head("holdings", snapshot), JsonLayout::kCompact);
  head.pop_back();  // the closing brace: the holdings are the last field
  sink(head + ",\"holdings\":[");
  std::string_view separator = "\n";
  for (const ledger::HoldingView& each : holdings) {
    sink(separator);
    sink(json::text(json::holding(each), JsonLayout::kCompact));
    separator = ",\n";
  }
  sink("\n]}\n");
}

}  // namespace ttmem::view
