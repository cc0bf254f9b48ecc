// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ledger/holding_page.hpp"
#include "ledger/live_state.hpp"
#include "ledger/program_launches.hpp"

namespace ttmem::ledger {
namespace {

constexpr double kNsPerSecond = 1e9;

// What is live in a process, and the words of a document for what is in them.
struct Telling {
  const LiveState& live;
  const Naming& naming;

  std::vector<std::uint32_t> devices(SetIndex set) const {
    const std::vector<DeviceIndex> devices = live.catalog.devices_in(set);
    if (!naming.device_ids) return {devices.begin(), devices.end()};
    std::vector<std::uint32_t> ids;
    for (const DeviceIndex device : devices) {
      const auto found = naming.device_ids->find(device);
      if (found != naming.device_ids->end()) ids.push_back(found->second);
    }
    std::ranges::sort(ids);
    return ids;
  }
  TimeNs time(Ticks ticks) const {
    return ticks == 0 || !naming.to_time ? ticks : naming.to_time(ticks);
  }
};

void describe_cores(const LiveState& live, CoresId id, HoldingView& view) {
  const CoreSet* cores = live.catalog.cores(id);
  if (!cores) return;
  view.cores = cores->count;
  view.core_set = to_string(*cores);
}

// Launches that found their programs loaded and their slice in the ring.
std::uint64_t cache_hits_of(const WorkloadRecord& workload) {
  return subtract(subtract(workload.launches.count, workload.loads), workload.reloads);
}

template <typename View>
void describe_launches(const Telling& told, const Launches& launches, View& view) {
  view.dispatches = launches.count;
  view.first_dispatch = told.time(launches.first);
  view.last_dispatch = told.time(launches.last);
}

// Where it comes from; `followed` names the launch that came after it, if its own origin does not.
template <typename View>
void describe_origin(const Catalog& names, OriginId origin, StringId followed, View& view) {
  view.operation = names.operation_of(origin, followed);
  view.line = names.line_of(origin);
  view.region = names.regions_of(origin);
  view.stack = names.stack_of(origin);
}

HoldingView buffer_view(const Telling& told, const BufferRecord& buffer) {
  const LiveState& live = told.live;
  HoldingView view;
  view.kind = HoldingKind::kBuffer;
  view.process = told.naming.process;
  view.devices = told.devices(live.buffers.set_of(buffer));
  view.id = buffer.id;
  describe_origin(live.catalog, buffer.origin, buffer.operation, view);
  view.device_operation = live.catalog.device_operation_of(buffer.origin, buffer.operation);
  view.operation_is_derived = live.catalog.is_derived(buffer.origin, buffer.operation);
  view.space = buffer.space;
  view.layout = buffer.layout;
  view.address = buffer.address;
  if (buffer.per_core) {
    const auto* addresses = live.catalog.addresses(buffer.core_addresses);
    if (addresses && !addresses->empty()) {
      view.address = *std::min_element(addresses->begin(), addresses->end());
    }
  }
  describe_cores(live, buffer.cores, view);
  view.requested = buffer.requested;
  const BufferBytes bytes = live.buffers.bytes_of(buffer);
  view.block = bytes.block;
  view.occupied = bytes.occupied;
  view.taken = bytes.taken;
  view.estimated = buffer.flags.estimated;
  view.kernel_binaries = buffer.flags.kernel_binaries;
  view.trace_buffer = buffer.flags.trace;
  view.since = told.time(buffer.allocated);
  return view;
}

const CoreGrid* grid_of(const LiveState& live, SetIndex set) {
  const DeviceSetRecord* record = live.catalog.device_set(set);
  return !record || record->devices.empty() ? nullptr : live.grids.of(record->devices.front());
}

// Cores that the program covers, and its bytes on the fullest one.
void measure_cores(const LiveState& live, const LivePrograms::Program& program, ProgramView& view) {
  for (const KernelRecord* kernel : program.kernels) {  // where only their number is known
    const CoreSet* cores = live.catalog.cores(kernel->cores);
    if (cores && cores->ranges.empty()) view.cores = std::max(view.cores, cores->count);
  }
  const CoreGrid* grid = grid_of(live, program.record->set);
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
  view.cores = std::max(view.cores, static_cast<std::uint32_t>(count_bits(cover)));
  const CoreSet tensix = cores_in(*grid, cover, CoreType::kTensix);
  if (tensix.count > 0) view.core_set = to_string(tensix);
  view.l1_largest_core = *std::max_element(bytes.begin(), bytes.end());
}

double rate(const ProgramView& view) {
  if (view.dispatches.value_or(0) < 2 || view.last_dispatch <= view.first_dispatch) return 0;
  const auto seconds = static_cast<double>(view.last_dispatch - view.first_dispatch) / kNsPerSecond;
  return static_cast<double>(*view.dispatches - 1) / seconds;
}

// Without what measure_cores() works out.
ProgramView program_view(const Telling& told, const LivePrograms::Program& program) {
  const LiveState& live = told.live;
  const ProgramRecord& record = *program.record;
  ProgramView view;
  view.process = told.naming.process;
  view.id = record.id;
  view.workload = record.workload;
  view.name = live.catalog.name_of(record.name, record.origin);
  describe_origin(live.catalog, record.origin, 0, view);
  view.type = record.type;
  view.loaded = record.loaded;
  view.estimated = record.flags.estimated;
  view.devices = told.devices(record.set);
  view.kernels = static_cast<std::uint32_t>(program.kernels.size());
  for (const KernelRecord* kernel : program.kernels) {
    if (record.loaded) view.footprint = add(view.footprint, footprint_of(live.catalog, *kernel));
  }
  for (const RangeRecord* range : program.ranges) {
    view.views += range->part == Part::kView;
    view.l1_allocated = add(view.l1_allocated, allocated_by(live.catalog, *range));
  }
  view.config_bytes = record.config_bytes;
  view.registered = told.time(record.registered);
  if (tells_launches(record)) view.dispatches = view.cache_hits = view.reloads = 0;
  const WorkloadRecord* workload = live.programs.workload(record.workload);
  if (workload != nullptr && (view.dispatches || workload->launches.count > 0)) {
    describe_launches(told, workload->launches, view);
    view.cache_hits = cache_hits_of(*workload);
    view.reloads = workload->reloads;
  }
  if (view.dispatches) view.replays = 0;
  view.dispatches_per_second = rate(view);
  return view;
}

// What a program, its kernels and its ranges say alike.
HoldingView member_view(const ProgramView& program, HoldingKind kind) {
  HoldingView view;
  view.kind = kind;
  view.process = program.process;
  view.devices = program.devices;
  view.id = program.id;
  view.type = program.type;
  view.name = program.name;
  view.line = program.line;
  view.region = program.region;
  view.stack = program.stack;
  view.loaded = program.loaded;
  view.estimated = program.estimated;
  view.since = program.registered;
  view.first_dispatch = program.first_dispatch;
  view.last_dispatch = program.last_dispatch;
  view.dispatches = program.dispatches;
  view.cache_hits = program.cache_hits;
  view.reloads = program.reloads;
  return view;
}

// How many loaded kernels of the set have the same binary.
std::uint64_t code_users(const LiveState& live, SetIndex set, const KernelRecord& kernel) {
  const ProgramTotals* totals = kernel.hash == 0 ? nullptr : live.programs.totals(set);
  if (!totals) return 0;
  const auto found = totals->codes().find({kernel.hash, kernel.packed_bytes});
  return found == totals->codes().end() ? 0 : found->second.kernels;
}

HoldingView kernel_view(const LiveState& live, const ProgramView& program,
                        const KernelRecord& kernel, std::uint32_t index) {
  HoldingView view = member_view(program, HoldingKind::kKernel);
  view.index = index;
  view.name = live.catalog.string(kernel.name);
  view.source = live.catalog.string(kernel.source);
  view.core_type = kernel.core_type;
  view.processor = kernel.processor;
  describe_cores(live, kernel.cores, view);
  view.packed = kernel.packed_bytes;
  view.text = kernel.text_bytes;
  // An estimate is never loaded: it is what somebody says, from the start.
  const bool shown = program.loaded || program.estimated;
  view.footprint = shown ? footprint_of(live.catalog, kernel) : 0;
  return view;
}

HoldingView range_view(const LiveState& live, const ProgramView& program,
                       const RangeRecord& range) {
  HoldingView view = member_view(program, HoldingKind::kRange);
  view.index = index_of(range);
  view.part = range.part;
  view.space = Space::kL1;
  view.address = range.address;
  describe_cores(live, range.cores, view);
  view.block = range.size;
  view.occupied = allocated_by(live.catalog, range);
  return view;
}

HoldingView trace_view(const Telling& told, const TraceRecord& trace) {
  HoldingView view;
  view.kind = HoldingKind::kTrace;
  view.process = told.naming.process;
  view.devices = told.devices(trace.set);
  view.id = trace.id;
  const auto* members = told.live.catalog.members(trace.members);
  view.index = members ? static_cast<std::uint32_t>(members->size()) : 0;
  describe_origin(told.live.catalog, trace.origin, 0, view);
  view.loaded = trace.launches.count > 0;
  describe_launches(told, trace.launches, view);
  return view;
}

// What of a process is asked for, by the rule of a filter: kernels and ranges have the devices of
// their programs, and who names a space means buffers.
class Wanted {
 public:
  Wanted(const Telling& told, const HoldingQuestion& question) : told_(told), question_(question) {}

  bool has(HoldingKind kind) const {
    if (!question_.spaces.empty() && kind != HoldingKind::kBuffer) return false;
    return question_.kinds.empty() ||
           std::ranges::find(question_.kinds, kind) != question_.kinds.end();
  }
  bool has(const HoldingIndex::Class& of) {
    if (of.kind == HoldingIndex::Kind::kTrace) return has(HoldingKind::kTrace) && has_set(of.set);
    if (of.kind == HoldingIndex::Kind::kProgram) return has_programs() && has_set(of.set);
    const auto& spaces = question_.spaces;
    if (!spaces.empty() && std::ranges::find(spaces, of.space) == spaces.end()) return false;
    const BufferRecord buffer{.set = of.set, .allocator = of.allocator, .space = of.space};
    return has(HoldingKind::kBuffer) && has_set(told_.live.buffers.set_of(buffer));
  }
  bool has_programs() const {
    return has(HoldingKind::kProgram) || has(HoldingKind::kKernel) || has(HoldingKind::kRange);
  }
  bool has_set(SetIndex set) {
    if (!question_.device) return true;
    const auto [known, is_new] = sets_.try_emplace(set);
    if (is_new) {
      const std::vector<std::uint32_t> ids = told_.devices(set);
      known->second = std::ranges::find(ids, *question_.device) != ids.end();
    }
    return known->second;
  }

 private:
  const Telling& told_;
  const HoldingQuestion& question_;
  std::unordered_map<SetIndex, bool> sets_;  // that have the device, as far as they were asked for
};

// Tells a program and its parts, from one of these on.
bool visit_program(const Telling& told, const Wanted& wanted, HoldingPlace& place,
                   const std::function<bool(const HoldingView&)>& visit) {
  LivePrograms::Program program;
  if (!told.live.programs.find(place.slot, program) || program.record->held) return true;
  const ProgramView whole = program_view(told, program);
  const auto kernels = static_cast<std::uint32_t>(program.kernels.size());
  const auto parts = static_cast<std::uint32_t>(1 + kernels + program.ranges.size());
  bool more = true;
  while (more && place.part < parts) {
    const std::uint32_t part = place.part++;
    if (part == 0) {
      if (!wanted.has(HoldingKind::kProgram)) continue;
      HoldingView view = member_view(whole, HoldingKind::kProgram);
      view.operation = whole.operation;
      view.footprint = whole.footprint;
      view.occupied = whole.l1_allocated;
      more = visit(view);
    } else if (part <= kernels) {
      if (!wanted.has(HoldingKind::kKernel)) continue;
      const KernelRecord& kernel = *program.kernels[part - 1];
      HoldingView view = kernel_view(told.live, whole, kernel, part - 1);
      view.code = kernel.hash;
      view.code_users = code_users(told.live, program.record->set, kernel);
      more = visit(view);
    } else if (wanted.has(HoldingKind::kRange)) {
      more = visit(range_view(told.live, whole, *program.ranges[part - 1 - kernels]));
    }
  }
  return more;
}

// What one slot holds; `place` is in it, and behind what was told.
bool visit_slot(const Telling& told, Wanted& wanted, const HoldingIndex::Class& of,
                const Record& record, HoldingPlace& place,
                const std::function<bool(const HoldingView&)>& visit) {
  if (!wanted.has(of)) return true;
  if (of.kind == HoldingIndex::Kind::kProgram) return visit_program(told, wanted, place, visit);
  if (place.part++ > 0) return true;
  const auto* buffer = std::get_if<BufferRecord>(&record);
  return visit(buffer ? buffer_view(told, *buffer)
                      : trace_view(told, std::get<TraceRecord>(record)));
}

}  // namespace

bool visit_holdings(const LiveState& live, const Naming& naming, const HoldingQuestion& question,
                    HoldingPlace& place, const std::function<bool(const HoldingView&)>& visit) {
  const Telling told{live, naming};
  Wanted wanted(told, question);
  bool more = true;
  live.index.visit(
      place.slot, [&](const HoldingIndex::Class& of) { return wanted.has(of); },
      [&](SlotIndex slot) {
        if (slot != place.slot) place.slot = slot, place.part = 0;
        const Record* record = live.slots.find(slot);
        const auto of = record ? HoldingIndex::class_of(*record) : std::nullopt;
        if (of) more = visit_slot(told, wanted, *of, *record, place, visit);
        return more;
      });
  return more;
}

std::uint64_t count_holdings(const LiveState& live, const Naming& naming,
                             const HoldingQuestion& question) {
  const Telling told{live, naming};
  Wanted wanted(told, question);
  std::uint64_t count = 0;
  for (const auto& [of, slots] : live.index.counts()) {
    if (of.kind != HoldingIndex::Kind::kProgram && wanted.has(of)) count += slots;
  }
  if (!wanted.has_programs()) return count;
  for (const auto& [set, shown] : live.programs.shown()) {
    if (!wanted.has_set(set)) continue;
    if (wanted.has(HoldingKind::kProgram)) count += shown.programs;
    if (wanted.has(HoldingKind::kKernel)) count += shown.kernels;
    if (wanted.has(HoldingKind::kRange)) count += shown.ranges;
  }
  return count;
}

std::vector<ProgramView> program_views(const LiveState& live, const Naming& naming) {
  std::vector<ProgramView> views;
  const Replays replays(live, naming.watch);
  const auto in_ring = workloads_in_rings(live);
  LivePrograms::Program program;
  for (const SlotIndex slot : live.programs.programs()) {
    if (!live.programs.find(slot, program) || program.record->held) continue;
    views.push_back(program_view({live, naming}, program));
    if (in_ring) views.back().in_ring = in_ring->contains(program.record->workload);
    measure_cores(live, program, views.back());
    replays.describe(*program.record, naming, views.back());
  }
  return views;
}

}  // namespace ttmem::ledger
