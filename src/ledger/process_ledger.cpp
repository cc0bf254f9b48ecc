// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/process_ledger.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ledger/buffer_book.hpp"
#include "ledger/catalog.hpp"
#include "ledger/figure_sums.hpp"
#include "ledger/slot_table.hpp"

namespace ttmem::ledger {

struct ProcessLedger::State {
  Catalog catalog;
  SlotTable slots;
  BufferBook buffers{catalog};
  std::unordered_map<std::uint32_t, RingManagerRecord> rings;
  std::unordered_map<DeviceIndex, DeviceCounters> counters;
  std::uint64_t holdings = 0;
  std::uint64_t refused = 0;  // records of slots beyond the table

  void add(SlotIndex slot, const Record& record);
  void remove(SlotIndex slot, const Record& record);
};

ProcessLedger::ProcessLedger() : state_(std::make_unique<State>()) {}
ProcessLedger::~ProcessLedger() = default;
ProcessLedger::ProcessLedger(ProcessLedger&&) noexcept = default;
ProcessLedger& ProcessLedger::operator=(ProcessLedger&&) noexcept = default;

void ProcessLedger::set_device(DeviceIndex index, DeviceRecord record) {
  state_->catalog.set_device(index, std::move(record));
}
void ProcessLedger::set_device_set(SetIndex index, DeviceSetRecord record) {
  state_->catalog.set_device_set(index, std::move(record));
}
void ProcessLedger::set_allocator(AllocatorIndex index, AllocatorRecord record) {
  state_->catalog.set_allocator(index, std::move(record));
}
void ProcessLedger::set_string(StringId id, std::string text) {
  state_->catalog.set_string(id, std::move(text));
}
void ProcessLedger::set_cores(CoresId id, CoreSet cores) {
  state_->catalog.set_cores(id, std::move(cores));
}
void ProcessLedger::set_addresses(ListId id, std::vector<std::uint64_t> addresses) {
  state_->catalog.set_addresses(id, std::move(addresses));
}
void ProcessLedger::set_members(ListId id, std::vector<TraceMember> members) {
  state_->catalog.set_members(id, std::move(members));
}

void ProcessLedger::State::add(SlotIndex slot, const Record& record) {
  if (const auto* buffer = std::get_if<BufferRecord>(&record)) buffers.add(slot, *buffer);
  holdings += !std::holds_alternative<std::monostate>(record) &&
              !std::holds_alternative<WorkloadRecord>(record);
}

void ProcessLedger::State::remove(SlotIndex slot, const Record& record) {
  if (const auto* buffer = std::get_if<BufferRecord>(&record)) buffers.remove(slot, *buffer);
  holdings -= !std::holds_alternative<std::monostate>(record) &&
              !std::holds_alternative<WorkloadRecord>(record);
}

void ProcessLedger::apply(SlotIndex slot, const Record& record) {
  if (slot >= SlotTable::kMaxSlots) {
    ++state_->refused;
    return;
  }
  Record& place = state_->slots.at(slot);
  state_->remove(slot, place);
  place = record;
  state_->add(slot, place);
}

void ProcessLedger::set_launches(SlotIndex slot, const Launches& launches) {
  Record* record = state_->slots.find(slot);
  if (!record) return;
  if (auto* workload = std::get_if<WorkloadRecord>(record)) workload->launches = launches;
  if (auto* trace = std::get_if<TraceRecord>(record)) trace->launches = launches;
}

void ProcessLedger::set_ring_manager(std::uint32_t index, RingManagerRecord record) {
  state_->rings[index] = std::move(record);
}
void ProcessLedger::set_counters(DeviceIndex device, const DeviceCounters& counters) {
  state_->counters[device] = counters;
}

DeviceFigures ProcessLedger::figures(DeviceIndex device, bool totals_only) const {
  DeviceFigures figures;
  state_->buffers.fill(device, !totals_only, figures);
  const auto counters = state_->counters.find(device);
  if (counters != state_->counters.end()) {
    for (std::size_t i = 0; i < kSpaces; ++i) {
      SpaceFigures& space = figures.spaces[i];
      if (space.taken) space.peak = std::max(counters->second.peak[i], *space.taken);
    }
  }
  const Figure& l1 = figures.space(Space::kL1).capacity;
  if (l1) figures.l1_capacity = add(*l1, figures.space(Space::kL1Small).capacity.value_or(0));
  figures.l1_used = l1_used(figures);
  return figures;
}

const std::vector<DeviceIndex>& ProcessLedger::devices() const { return state_->catalog.devices(); }

const DeviceRecord& ProcessLedger::device(DeviceIndex index) const {
  static const DeviceRecord kNone;
  const DeviceRecord* record = state_->catalog.device(index);
  return record ? *record : kNone;
}

const AllocatorRecord* ProcessLedger::allocator(AllocatorIndex index) const {
  return state_->catalog.allocator(index);
}
const DeviceSetRecord* ProcessLedger::device_set(SetIndex index) const {
  return state_->catalog.device_set(index);
}

bool ProcessLedger::in_mesh(DeviceIndex device) const {
  const auto& allocators = state_->catalog.allocators_of(device);
  return std::any_of(allocators.begin(), allocators.end(),
                     [&](AllocatorIndex i) { return state_->catalog.allocator(i)->open; });
}

std::string_view ProcessLedger::string(StringId id) const { return state_->catalog.string(id); }
const CoreSet* ProcessLedger::core_set(CoresId id) const { return state_->catalog.cores(id); }
std::uint64_t ProcessLedger::live_holdings() const { return state_->holdings; }

std::uint64_t ProcessLedger::dangling() const {
  return state_->refused + state_->buffers.dangling();
}

}  // namespace ttmem::ledger
