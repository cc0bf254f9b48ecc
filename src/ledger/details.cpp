// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/details.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace ttmem::ledger {
namespace {

std::vector<std::uint32_t> devices_of(const Books& books, SetIndex set) {
  const std::vector<DeviceIndex> devices = books.catalog.devices_in(set);
  return {devices.begin(), devices.end()};
}

void describe_cores(const Books& books, CoresId id, HoldingView& view) {
  const CoreSet* cores = books.catalog.cores(id);
  if (!cores) return;
  view.cores = cores->count;
  view.core_set = to_string(*cores);
}

// Launches that found their programs loaded and their slice in the ring.
std::uint64_t cache_hits(const WorkloadRecord& workload) {
  return subtract(subtract(workload.launches.count, workload.loads), workload.reloads);
}

void describe_launches(const Launches& launches, HoldingView& view) {
  view.dispatches = launches.count;
  view.first_dispatch = launches.first;
  view.last_dispatch = launches.last;
}

HoldingView buffer_view(const Books& books, const BufferRecord& buffer) {
  HoldingView view;
  view.kind = HoldingKind::kBuffer;
  view.devices = devices_of(books, books.buffers.set_of(buffer));
  view.id = buffer.id;
  view.operation = books.catalog.operation_of(buffer.origin, buffer.operation);
  view.line = books.catalog.line_of(buffer.origin);
  view.space = buffer.space;
  view.layout = buffer.layout;
  view.address = buffer.address;
  if (buffer.per_core) {
    const auto* addresses = books.catalog.addresses(buffer.core_addresses);
    if (addresses && !addresses->empty()) {
      view.address = *std::min_element(addresses->begin(), addresses->end());
    }
  }
  describe_cores(books, buffer.cores, view);
  view.requested = buffer.requested;
  const BufferBytes bytes = books.buffers.bytes_of(buffer);
  view.block = bytes.block;
  view.occupied = bytes.occupied;
  view.taken = bytes.taken;
  view.estimated = buffer.flags.estimated;
  view.kernel_binaries = buffer.flags.kernel_binaries;
  view.trace_buffer = buffer.flags.trace;
  view.since = buffer.allocated;
  return view;
}

// What a kernel, a range and their program say alike.
HoldingView member_view(const Books& books, const ProgramRecord& program) {
  HoldingView view;
  view.devices = devices_of(books, program.set);
  view.id = program.id;
  view.type = program.type;
  view.name = books.catalog.name_of(program.name, program.origin);
  view.line = books.catalog.line_of(program.origin);
  view.loaded = program.loaded;
  view.estimated = program.flags.estimated;
  view.since = program.registered;
  const WorkloadRecord* workload = books.programs.workload(program.workload);
  if (workload) {
    describe_launches(workload->launches, view);
    view.cache_hits = cache_hits(*workload);
    view.reloads = workload->reloads;
  }
  return view;
}

HoldingView kernel_view(const Books& books, const ProgramRecord& program,
                        const KernelRecord& kernel, std::uint32_t index) {
  HoldingView view = member_view(books, program);
  view.kind = HoldingKind::kKernel;
  view.index = index;
  view.name = books.catalog.string(kernel.name);
  view.source = books.catalog.string(kernel.source);
  view.core_type = kernel.core_type;
  view.processor = kernel.processor;
  describe_cores(books, kernel.cores, view);
  view.packed = kernel.packed_bytes;
  view.text = kernel.text_bytes;
  // An estimate is never loaded: it is what somebody says, from the start.
  const bool shown = program.loaded || program.flags.estimated;
  view.footprint = shown ? footprint_of(books.catalog, kernel) : 0;
  return view;
}

HoldingView range_view(const Books& books, const ProgramRecord& program, const RangeRecord& range) {
  HoldingView view = member_view(books, program);
  view.kind = HoldingKind::kRange;
  view.index = range.index;
  view.part = range.part;
  view.space = Space::kL1;
  view.address = range.address;
  describe_cores(books, range.cores, view);
  view.block = range.size;
  view.occupied = allocated_by(books.catalog, range);
  return view;
}

HoldingView trace_view(const Books& books, const TraceRecord& trace) {
  HoldingView view;
  view.kind = HoldingKind::kTrace;
  view.devices = devices_of(books, trace.set);
  view.id = trace.id;
  const auto* members = books.catalog.members(trace.members);
  view.index = members ? static_cast<std::uint32_t>(members->size()) : 0;
  view.loaded = trace.launches.count > 0;
  describe_launches(trace.launches, view);
  return view;
}

void visit_program(const Books& books, SlotIndex slot,
                   const std::function<void(const HoldingView&)>& visit) {
  ProgramBook::Program program;
  if (!books.programs.find(slot, program) || program.record->held) return;
  HoldingView view = member_view(books, *program.record);
  view.kind = HoldingKind::kProgram;
  std::uint64_t footprint = 0, l1 = 0;
  for (const KernelRecord* kernel : program.kernels) {
    footprint = add(footprint, footprint_of(books.catalog, *kernel));
  }
  for (const RangeRecord* range : program.ranges) {
    l1 = add(l1, allocated_by(books.catalog, *range));
  }
  view.footprint = program.record->loaded ? footprint : 0;
  view.occupied = l1;
  visit(view);
  std::uint32_t index = 0;
  for (const KernelRecord* kernel : program.kernels) {
    visit(kernel_view(books, *program.record, *kernel, index++));
  }
  for (const RangeRecord* range : program.ranges) {
    visit(range_view(books, *program.record, *range));
  }
}

const CoreGrid* grid_of(const Books& books, SetIndex set) {
  const DeviceSetRecord* record = books.catalog.device_set(set);
  return !record || record->devices.empty() ? nullptr : books.grids.of(record->devices.front());
}

// Cores that the program covers, and its bytes on the fullest one.
void measure_cores(const Books& books, const ProgramBook::Program& program, ProgramView& view) {
  const CoreGrid* grid = grid_of(books, program.record->set);
  if (!grid) return;
  CoreMask cover = grid->empty_mask();
  std::vector<std::uint64_t> bytes(grid->size());
  for (const KernelRecord* kernel : program.kernels) join(cover, grid->mask(kernel->cores));
  for (const RangeRecord* range : program.ranges) {
    join(cover, grid->mask(range->cores));
    if (!takes_bytes(*range)) continue;
    for_each_bit(grid->mask(range->cores),
                 [&](std::size_t i) { bytes[i] = add(bytes[i], range->size); });
  }
  view.cores = count_bits(cover);
  const CoreSet tensix = cores_in(*grid, cover, CoreType::kTensix);
  if (tensix.count > 0) view.core_set = to_string(tensix);
  view.l1_largest_core = *std::max_element(bytes.begin(), bytes.end());
}

ProgramView program_view(const Books& books, const ProgramBook::Program& program) {
  const ProgramRecord& record = *program.record;
  ProgramView view;
  view.id = record.id;
  view.workload = record.workload;
  view.name = books.catalog.name_of(record.name, record.origin);
  view.line = books.catalog.line_of(record.origin);
  view.type = record.type;
  view.loaded = record.loaded;
  view.devices = devices_of(books, record.set);
  view.kernels = static_cast<std::uint32_t>(program.kernels.size());
  measure_cores(books, program, view);
  for (const KernelRecord* kernel : program.kernels) {
    if (record.loaded) view.footprint = add(view.footprint, footprint_of(books.catalog, *kernel));
  }
  for (const RangeRecord* range : program.ranges) {
    view.views += range->part == Part::kView;
    view.l1_allocated = add(view.l1_allocated, allocated_by(books.catalog, *range));
  }
  view.config_bytes = record.config_bytes;
  view.registered = record.registered;
  if (const WorkloadRecord* workload = books.programs.workload(record.workload)) {
    view.dispatches = workload->launches.count;
    view.cache_hits = cache_hits(*workload);
    view.reloads = workload->reloads;
    view.first_dispatch = workload->launches.first;
    view.last_dispatch = workload->launches.last;
  }
  return view;
}

}  // namespace

void for_each_holding(const Books& books, const std::function<void(const HoldingView&)>& visit) {
  books.slots.for_each([&](SlotIndex slot, const Record& record) {
    if (const auto* buffer = std::get_if<BufferRecord>(&record)) {
      visit(buffer_view(books, *buffer));
    } else if (const auto* trace = std::get_if<TraceRecord>(&record)) {
      visit(trace_view(books, *trace));
    } else if (std::holds_alternative<ProgramRecord>(record)) {
      visit_program(books, slot, visit);
    }
  });
}

std::vector<ProgramView> program_views(const Books& books) {
  std::vector<ProgramView> views;
  ProgramBook::Program program;
  for (const SlotIndex slot : books.programs.programs()) {
    if (!books.programs.find(slot, program) || program.record->held) continue;
    views.push_back(program_view(books, program));
  }
  return views;
}

}  // namespace ttmem::ledger
