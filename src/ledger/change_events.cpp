// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <iterator>
#include <set>

#include "ledger/live_state.hpp"

namespace ttmem::ledger {
namespace {

EventView start(const LiveState& live, EventKind kind, std::uint64_t id, SetIndex set) {
  EventView event;
  event.kind = kind;
  event.id = id;
  for (const DeviceIndex device : live.catalog.devices_in(set)) {
    const DeviceRecord* record = live.catalog.device(device);
    if (record) event.devices.emplace_back().unique_id = record->unique_id;
  }
  return event;
}

EventView buffer_event(const LiveState& live, EventKind kind, const BufferRecord& buffer) {
  EventView event = start(live, kind, buffer.id, live.buffers.set_of(buffer));
  event.operation = live.catalog.operation_of(buffer.origin, buffer.operation);
  event.operation_is_derived = live.catalog.is_derived(buffer.origin, buffer.operation);
  event.line = live.catalog.line_of(buffer.origin);
  event.region = live.catalog.regions_of(buffer.origin);
  event.stack = live.catalog.stack_of(buffer.origin);
  event.space = buffer.space;
  event.layout = buffer.layout;
  event.address = buffer.address;
  event.requested = buffer.requested;
  event.kernel_binaries = buffer.flags.kernel_binaries;
  event.estimated = buffer.flags.estimated;
  const BufferBytes bytes = live.buffers.bytes_of(buffer);
  event.block = bytes.block;
  event.taken = bytes.taken;
  return event;
}

// A program that its owner released and that only a trace still needs is gone for people.
bool is_there(const ProgramRecord* program) { return program && !program->held; }

EventView program_event(const LiveState& live, const SlotChange& change) {
  const auto* before = std::get_if<ProgramRecord>(&change.before);
  const auto* after = std::get_if<ProgramRecord>(&change.after);
  const ProgramRecord& told = after ? *after : *before;
  const bool was = is_there(before), is = is_there(after);
  const bool loaded_before = was && before->loaded, loaded_after = is && after->loaded;
  const EventKind kind = !was && is                       ? EventKind::kProgramRegistered
                         : was && !is                     ? EventKind::kProgramReleased
                         : loaded_after && !loaded_before ? EventKind::kProgramLoaded
                                                          : EventKind::kProgramChanged;
  EventView event = start(live, kind, told.id, told.set);
  event.workload = told.workload;
  event.name = live.catalog.name_of(told.name, told.origin);
  event.line = live.catalog.line_of(told.origin);
  event.region = live.catalog.regions_of(told.origin);
  event.stack = live.catalog.stack_of(told.origin);
  event.type = told.type;
  event.estimated = told.flags.estimated;
  const ProgramContents& contents = after ? change.contents_after : change.contents_before;
  event.kernels = contents.kernels;
  event.footprint = contents.footprint;
  event.cores = contents.cores;
  if (was && before->flags.estimated) event.estimated_before = change.contents_before.footprint;
  if (is && after->flags.estimated) event.estimated_after = change.contents_after.footprint;
  event.loaded_before = loaded_before;
  event.loaded_after = loaded_after;
  event.l1_before = change.contents_before.l1_allocated;
  event.l1_after = change.contents_after.l1_allocated;
  return event;
}

EventView workload_event(const LiveState& live, const WorkloadRecord* before,
                         const WorkloadRecord* after) {
  const EventKind kind = !after                             ? EventKind::kWorkloadReleased
                         : !before                          ? EventKind::kWorkloadCreated
                         : after->reloads > before->reloads ? EventKind::kReloaded
                                                            : EventKind::kWorkloadChanged;
  const WorkloadRecord& told = after ? *after : *before;
  EventView event = start(live, kind, told.id, told.set);
  event.workload = told.id;
  return event;
}

EventView trace_event(const LiveState& live, const TraceRecord* before, const TraceRecord* after) {
  const EventKind kind = !after             ? EventKind::kTraceReleased
                         : after->capturing ? EventKind::kTraceBegun
                                            : EventKind::kTraceEnded;
  const TraceRecord& told = after ? *after : *before;
  return start(live, kind, told.id, told.set);
}

// Two kernels on one core are on one core. Of cores that are only counted, the most that any kernel
// has.
Figure covered_cores(const Catalog& catalog, const std::vector<const KernelRecord*>& kernels) {
  std::set<CoresId> sets;
  for (const KernelRecord* kernel : kernels) sets.insert(kernel->cores);
  sets.erase(0);
  std::vector<Core> cores;
  std::uint64_t counted = 0;
  for (const CoresId id : sets) {
    const CoreSet* set = catalog.cores(id);
    if (set == nullptr) continue;
    if (set->ranges.empty()) counted = std::max<std::uint64_t>(counted, set->count);
    if (sets.size() == 1) return set->count;
    catalog.effort().spend(set->count);
    std::ranges::copy(cores_in_order(*set), std::back_inserter(cores));
  }
  std::ranges::sort(cores);
  const auto again = std::ranges::unique(cores);
  cores.erase(again.begin(), again.end());
  const std::uint64_t covered = std::max<std::uint64_t>(cores.size(), counted);
  return covered == 0 ? Figure() : Figure(covered);
}

}  // namespace

ProgramContents contents_of(const LiveState& live, SlotIndex slot) {
  ProgramContents contents;
  LivePrograms::Program program;
  if (!live.programs.find(slot, program)) return contents;
  for (const KernelRecord* kernel : program.kernels) {
    EventKernel& view = contents.kernels.emplace_back();
    view.name = live.catalog.string(kernel->name);
    view.source = live.catalog.string(kernel->source);
    view.core_type = kernel->core_type;
    view.processor = kernel->processor;
    view.packed_bytes = kernel->packed_bytes;
    view.cores = kernel->cores == 0 ? 0 : live.catalog.core_count(kernel->cores);
    view.footprint = footprint_of(live.catalog, *kernel);
    contents.footprint = add(contents.footprint, view.footprint);
  }
  contents.cores = covered_cores(live.catalog, program.kernels);
  if (!counts(*program.record)) return contents;
  for (const RangeRecord* range : program.ranges) {
    contents.l1_allocated = add(contents.l1_allocated, allocated_by(live.catalog, *range));
  }
  return contents;
}

std::optional<EventView> event_of(const LiveState& live, const SlotChange& change) {
  const auto& [before, after, contents_before, contents_after] = change;
  // A slot that goes from one kind of thing to another is told as what it holds now.
  const Record& told = std::holds_alternative<std::monostate>(after) ? before : after;
  if (const auto* buffer = std::get_if<BufferRecord>(&told)) {
    const bool was = std::holds_alternative<BufferRecord>(before);
    const bool is = std::holds_alternative<BufferRecord>(after);
    const EventKind kind = !is   ? EventKind::kBufferFreed
                           : was ? EventKind::kBufferChanged
                                 : EventKind::kBufferAllocated;
    return buffer_event(live, kind, *buffer);
  }
  if (std::holds_alternative<ProgramRecord>(told)) return program_event(live, change);
  if (std::holds_alternative<WorkloadRecord>(told)) {
    return workload_event(live, std::get_if<WorkloadRecord>(&before),
                          std::get_if<WorkloadRecord>(&after));
  }
  if (std::holds_alternative<TraceRecord>(told)) {
    return trace_event(live, std::get_if<TraceRecord>(&before), std::get_if<TraceRecord>(&after));
  }
  return std::nullopt;
}

}  // namespace ttmem::ledger
