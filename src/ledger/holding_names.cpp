// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>

#include "ledger/live_state.hpp"

namespace ttmem::ledger {
namespace {

const char* part_name(Part part) {
  switch (part) {
    case Part::kCb:
      return "CB";
    case Part::kDataflowBuffer:
      return "dataflow buffer";
    case Part::kScratchpad:
      return "scratchpad";
    case Part::kView:
      return "view";
  }
  return "range";
}

std::string of_trace(const LiveState& live, SlotIndex slot) {
  const TraceRecord* trace = slot == kNoSlot ? nullptr : live.slots.get<TraceRecord>(slot);
  return trace ? fmt::format(" in trace {}", trace->id) : "";
}

}  // namespace

std::string buffer_name(const LiveState& live, const BufferRecord& buffer) {
  const std::string_view operation = live.catalog.operation_of(buffer.origin, buffer.operation);
  if (!operation.empty()) return std::string(operation);
  const std::string_view line = live.catalog.line_of(buffer.origin);
  if (!line.empty()) return std::string(line);
  return fmt::format("buffer {:#x}", buffer.id);
}

std::string program_name(const LiveState& live, const ProgramRecord& program) {
  const std::string_view name = live.catalog.name_of(program.name, program.origin);
  return name.empty() ? fmt::format("program {:#x}", program.id) : std::string(name);
}

std::string range_name(const LiveState& live, const RangeRecord& range,
                       const ProgramRecord& program, SlotIndex trace) {
  const Figure index = index_of(range);
  return fmt::format("{}{} of {}{}", part_name(range.part), index ? fmt::format(" {}", *index) : "",
                     program_name(live, program), of_trace(live, trace));
}

std::string standing_name(const LiveState& live, const Standing& standing) {
  const auto* program = live.slots.get<ProgramRecord>(standing.program);
  return program ? program_name(live, *program) + of_trace(live, standing.trace) : "";
}

}  // namespace ttmem::ledger
