// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/process_ledger.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "ledger/holding_page.hpp"
#include "ledger/live_state.hpp"
#include "ledger/origin_shares.hpp"
#include "ledger/program_launches.hpp"
#include "ledger/ring_views.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::ledger {

struct ProcessLedger::State {
  LiveState& change() {
    ++revision;
    return live;
  }

  LiveState live;
  std::uint64_t revision = 0;  // of what is live: figures of an older one are computed again
  struct KnownFigures {
    std::uint64_t revision = 0;
    bool totals_only = false;
    DeviceFigures figures;
  };
  std::unordered_map<DeviceIndex, KnownFigures> known_figures;
  struct KnownDangling {
    std::uint64_t revision = 0;
    std::uint64_t count = 0;
  };
  KnownDangling known_dangling;
  std::uint64_t refused = 0;                                  // records of slots beyond the table
  std::unordered_map<SlotIndex, std::uint64_t> told_guesses;  // footprints as last told
  // All figures of one revision together may cost kMost, and other questions so much each. Records
  // between two questions may cost that and kEach each: one of a program counts all that it has.
  static constexpr std::uint64_t kEach = 64;
  std::uint64_t figures_effort = Effort::kMost, figures_effort_of = 0;
  std::uint64_t records_effort = Effort::kMost;
  std::uint64_t question_effort = Effort::kMost;
  void renew() const { live.catalog.effort().renew(question_effort); }

  void add(SlotIndex slot, const Record& record);
  void remove(SlotIndex slot, const Record& record);
};

ProcessLedger::ProcessLedger() : state_(std::make_unique<State>()) {}
ProcessLedger::~ProcessLedger() = default;
ProcessLedger::ProcessLedger(ProcessLedger&&) noexcept = default;
ProcessLedger& ProcessLedger::operator=(ProcessLedger&&) noexcept = default;

void ProcessLedger::set_device(DeviceIndex index, DeviceRecord record) {
  state_->change().catalog.set_device(index, std::move(record));
}
void ProcessLedger::set_device_set(SetIndex index, DeviceSetRecord record) {
  state_->change().catalog.set_device_set(index, std::move(record));
}
void ProcessLedger::set_allocator(AllocatorIndex index, AllocatorRecord record) {
  state_->change().catalog.set_allocator(index, std::move(record));
}
void ProcessLedger::set_string(StringId id, std::string text) {
  state_->change().catalog.set_string(id, std::move(text));
}
void ProcessLedger::set_cores(CoresId id, CoreSet cores) {
  state_->change().catalog.set_cores(id, std::move(cores));
}
void ProcessLedger::set_addresses(ListId id, std::vector<std::uint64_t> addresses) {
  state_->change().catalog.set_addresses(id, std::move(addresses));
}
void ProcessLedger::set_frame(OriginFrameId id, OriginFrame frame) {
  state_->change().catalog.set_frame(id, std::move(frame));
}

void ProcessLedger::set_origin(OriginId id, const OriginNode& node) {
  state_->change().catalog.set_origin(id, node);
}

void ProcessLedger::set_members(ListId id, std::vector<TraceMember> members) {
  state_->change().catalog.set_members(id, std::move(members));
}

void ProcessLedger::State::add(SlotIndex slot, const Record& record) {
  if (std::holds_alternative<std::monostate>(record)) return;
  live.index.add(slot, record);
  const auto* buffer = std::get_if<BufferRecord>(&record);
  buffer ? live.buffers.add(slot, *buffer) : live.programs.add(slot, record);
}

void ProcessLedger::State::remove(SlotIndex slot, const Record& record) {
  if (std::holds_alternative<std::monostate>(record)) return;
  live.index.remove(slot, record);
  const auto* buffer = std::get_if<BufferRecord>(&record);
  buffer ? live.buffers.remove(slot, *buffer) : live.programs.remove(slot, record);
}

Record ProcessLedger::apply(SlotIndex slot, const Record& record) {
  if (slot >= SlotTable::kMaxSlots) {
    ++state_->refused;
    return {};
  }
  // Out with the old record, in with the new: the sums never hold both, nor neither.
  if (!state_->told_guesses.empty()) state_->told_guesses.erase(slot);
  Record& place = state_->change().slots.at(slot);
  const Effort& effort = state_->live.catalog.effort();
  effort.renew(std::min(Effort::kMost, state_->records_effort + State::kEach));
  state_->remove(slot, place);
  Record before = std::exchange(place, record);
  state_->add(slot, place);
  state_->records_effort = effort.left();
  return before;
}

std::optional<EventView> ProcessLedger::apply_and_tell(SlotIndex slot, const Record& record) {
  const LiveState& live = state_->live;
  // The contents of a program change with its slot (its kernels leave with it), so they are taken
  // on both sides: what is gone cannot be asked for afterwards.
  SlotChange change{.contents_before = contents_of(live, slot)};
  const auto told = state_->told_guesses.extract(slot);
  change.before = apply(slot, record);
  change.after = record;
  change.contents_after = contents_of(live, slot);
  std::optional<EventView> event = event_of(live, change);
  if (!event || !event->estimated) return event;
  // A kernel that joins a guess is told with its program, whose contents have it by then.
  if (told) event->estimated_before = told.mapped();
  if (event->estimated_after != 0) {
    state_->told_guesses.insert_or_assign(slot, event->estimated_after);
  }
  return event;
}

void ProcessLedger::set_open(DeviceIndex device, bool open) {
  state_->change().catalog.set_open(device, open);
}

EventDevice ProcessLedger::program_totals(DeviceIndex index) const {
  EventDevice totals;
  totals.unique_id = device(index).unique_id;
  const SetFigures sum = program_sums(state_->live, index);
  totals.program_l1_allocated = sum.l1_allocated;
  totals.kernels_estimated = sum.estimated.footprint;
  for (const auto& type : sum.by_type) {
    totals.kernels_footprint = add(totals.kernels_footprint, type.footprint);
  }
  return totals;
}

std::uint64_t ProcessLedger::buffer_count() const { return state_->live.buffers.count(); }

const WorkloadRecord* ProcessLedger::workload(std::uint64_t id) const {
  return state_->live.programs.workload(id);
}

void ProcessLedger::set_launches(SlotIndex slot, const Launches& launches) {
  Record* record = state_->live.slots.find(slot);
  if (!record) return;
  Launches* place = nullptr;
  if (auto* workload = std::get_if<WorkloadRecord>(record)) place = &workload->launches;
  if (auto* trace = std::get_if<TraceRecord>(record)) place = &trace->launches;
  // Read at every look, changed at few: a revision that grows without a change would throw away
  // every figure that is kept.
  if (!place || *place == launches) return;
  *place = launches;
  state_->change().programs.launched();
}

void ProcessLedger::set_ring_manager(std::uint32_t index, RingManagerRecord record) {
  state_->change().ring_managers[index] = std::move(record);
}
void ProcessLedger::set_counters(DeviceIndex device, const DeviceCounters& counters) {
  state_->change().counters[device] = counters;
}

namespace {

DeviceFigures compute(const LiveState& live, DeviceIndex device, bool totals_only) {
  DeviceFigures figures;
  live.buffers.fill(device, !totals_only, figures);
  const SetFigures programs = program_sums(live, device);
  fill_program_l1(live, device, programs, figures);
  fill_kernels(live, device, programs, figures.kernels);
  fill_launches(live, device, figures.kernels);
  fill_rings(live, device, figures);
  fill_peaks(live, device, figures);
  if (!totals_only) figures.headroom = headroom(live, device);
  const Figure& l1 = figures.space(Space::kL1).capacity;
  if (l1) figures.l1_capacity = add(*l1, figures.space(Space::kL1Small).capacity.value_or(0));
  return figures;
}

}  // namespace

const DeviceFigures& ProcessLedger::figures(DeviceIndex device, bool totals_only) const {
  const auto [place, is_new] = state_->known_figures.try_emplace(device);
  State::KnownFigures& known = place->second;
  if (is_new || known.revision != state_->revision || known.totals_only != totals_only) {
    // One budget for all devices of a revision: a file with many devices must not get it many
    // times.
    if (std::exchange(state_->figures_effort_of, state_->revision) != state_->revision) {
      state_->figures_effort = state_->records_effort = Effort::kMost;
    }
    const Effort& effort = state_->live.catalog.effort();
    effort.renew(std::exchange(state_->figures_effort, 0));  // and stays 0 if it is not enough
    known = {state_->revision, totals_only, compute(state_->live, device, totals_only)};
    state_->figures_effort = effort.left();
  }
  return known.figures;
}

std::vector<CoreLayers> ProcessLedger::core_layers(DeviceIndex device, bool with_names) const {
  state_->renew();
  return ledger::core_layers(state_->live, device, with_names);
}

std::vector<CoreView> ProcessLedger::cores(DeviceIndex device, bool with_map) const {
  std::vector<CoreView> views;
  for (const CoreLayers& core : core_layers(device, with_map))
    views.push_back(paint(core, with_map));
  return views;
}

std::vector<CoreUse> ProcessLedger::core_use(DeviceIndex device) const {
  state_->renew();
  return ledger::core_use(state_->live, device);
}

void ProcessLedger::for_each_holding(const std::function<void(const HoldingView&)>& visit,
                                     const Naming& naming) const {
  HoldingPlace place;
  visit_holdings({}, place, naming, [&](const HoldingView& holding) {
    visit(holding);
    return true;
  });
}

bool ProcessLedger::visit_holdings(const HoldingQuestion& question, HoldingPlace& place,
                                   const Naming& naming,
                                   const std::function<bool(const HoldingView&)>& visit) const {
  state_->renew();
  return ledger::visit_holdings(state_->live, naming, question, place, visit);
}

std::uint64_t ProcessLedger::count_holdings(const HoldingQuestion& question,
                                            const Naming& naming) const {
  state_->renew();
  return ledger::count_holdings(state_->live, naming, question);
}

void ProcessLedger::for_each_share(const std::function<void(const OriginShare&)>& visit) const {
  ledger::for_each_share(state_->live, visit);
}

void ProcessLedger::for_each_launch_count(
    const std::function<void(const LaunchCount&)>& visit) const {
  launch_counts(state_->live, visit);
}

void ProcessLedger::for_each_launched_name(
    const std::function<void(std::uint64_t, std::string)>& visit) const {
  state_->renew();
  const LiveState& live = state_->live;
  const std::vector<SlotIndex> programs = live.programs.programs();
  live.catalog.effort().spend(programs.size());
  for (const SlotIndex slot : programs) {
    const auto& program = *live.slots.get<ProgramRecord>(slot);
    const std::string_view name = live.catalog.name_of(program.name, program.origin);
    if (program.workload != 0 && !name.empty()) visit(program.workload, std::string(name));
  }
}

std::vector<RingView> ProcessLedger::rings(DeviceIndex device, const Naming& naming) const {
  state_->renew();
  return ring_views(state_->live, device, naming);
}

std::vector<ProgramView> ProcessLedger::programs(const Naming& naming) const {
  state_->renew();
  return program_views(state_->live, naming);
}

std::optional<SpacePicture> ProcessLedger::space_picture(const PictureQuestion& question,
                                                         const Naming& naming) const {
  state_->renew();
  return ledger::space_picture(state_->live, question, naming);
}

std::uint64_t ProcessLedger::begin_question(std::uint64_t most) const {
  state_->question_effort = std::min(most, Effort::kMost);
  state_->renew();
  return state_->question_effort;
}

std::uint64_t ProcessLedger::end_question() const {
  state_->question_effort = Effort::kMost;
  return state_->live.catalog.effort().left();
}

bool ProcessLedger::exhausted() const { return state_->live.catalog.effort().exhausted(); }

const std::vector<DeviceIndex>& ProcessLedger::devices() const {
  return state_->live.catalog.devices();
}

const DeviceRecord& ProcessLedger::device(DeviceIndex index) const {
  static const DeviceRecord kNone;
  const DeviceRecord* record = state_->live.catalog.device(index);
  return record ? *record : kNone;
}

const AllocatorRecord* ProcessLedger::allocator(AllocatorIndex index) const {
  return state_->live.catalog.allocator(index);
}
const DeviceSetRecord* ProcessLedger::device_set(SetIndex index) const {
  return state_->live.catalog.device_set(index);
}

bool ProcessLedger::in_mesh(DeviceIndex device) const {
  const auto& allocators = state_->live.catalog.allocators_of(device);
  return std::any_of(allocators.begin(), allocators.end(),
                     [&](AllocatorIndex i) { return state_->live.catalog.allocator(i)->open; });
}

const Catalog& ProcessLedger::catalog() const { return state_->live.catalog; }

std::vector<const DeviceSetRecord*> ProcessLedger::meshes() const {
  constexpr std::size_t kMostMeshes = 64;
  const Catalog& catalog = state_->live.catalog;
  std::set<SetIndex> sets;
  for (const DeviceIndex device : catalog.devices()) {
    for (const AllocatorIndex i : catalog.allocators_of(device)) {
      const AllocatorRecord* allocator = catalog.allocator(i);
      if (allocator->open) sets.insert(allocator->set);
    }
  }
  std::vector<const DeviceSetRecord*> meshes;
  for (const SetIndex set : sets) {
    const DeviceSetRecord* record = catalog.device_set(set);
    // A shape that does not fit its devices says nothing about who is whose neighbour.
    const bool has_shape = record && record->rows > 0 &&
                           record->devices.size() == std::size_t{record->rows} * record->columns;
    if (has_shape && meshes.size() < kMostMeshes) meshes.push_back(record);
  }
  return meshes;
}

std::string_view ProcessLedger::string(StringId id) const {
  return state_->live.catalog.string(id);
}
const CoreSet* ProcessLedger::core_set(CoresId id) const { return state_->live.catalog.cores(id); }

std::uint64_t ProcessLedger::dangling() const {
  State::KnownDangling& known = state_->known_dangling;
  if (known.revision != state_->revision) {
    state_->renew();
    const LiveState& live = state_->live;
    known = {state_->revision, live.buffers.dangling() + live.programs.dangling()};
  }
  return state_->refused + known.count;
}

}  // namespace ttmem::ledger
