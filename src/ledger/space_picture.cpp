// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/space_picture.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ledger/live_state.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

const SpaceRecord* space_of(const Catalog& catalog, AllocatorIndex index, Space space) {
  const AllocatorRecord* allocator = catalog.allocator(index);
  if (!allocator) return nullptr;
  const SpaceRecord& record = allocator->spaces[static_cast<std::size_t>(space)];
  return record.banks == 0 ? nullptr : &record;
}

// Of the allocators that cover the device, the one that holds most blocks of the space; of equal
// ones one that is open, then the last.
AllocatorIndex choose_allocator(const LiveState& live, const PictureQuestion& question) {
  if (question.allocator != 0) return question.allocator;
  std::unordered_map<AllocatorIndex, std::uint64_t> blocks;
  live.slots.for_each([&](SlotIndex, const Record& record) {
    const auto* buffer = std::get_if<BufferRecord>(&record);
    if (buffer && buffer->space == question.space) ++blocks[buffer->allocator];
  });
  AllocatorIndex best = 0;
  std::tuple<std::uint64_t, bool, AllocatorIndex> rank;
  for (const AllocatorIndex index : live.catalog.allocators_of(question.device)) {
    if (!space_of(live.catalog, index, question.space)) continue;
    const std::tuple own(blocks[index], live.catalog.allocator(index)->open, index);
    if (best != 0 && own < rank) continue;
    best = index;
    rank = own;
  }
  return best;
}

// Puts one picture together.
class Drawing {
 public:
  Drawing(const LiveState& live, const Naming& naming, SpacePicture& picture)
      : live_(live), naming_(naming), picture_(picture) {}

  void add_blocks(AllocatorIndex allocator) {
    find_last_uses();
    live_.slots.for_each([&](SlotIndex slot, const Record& record) {
      const auto* buffer = std::get_if<BufferRecord>(&record);
      if (!buffer || buffer->space != picture_.space || buffer->flags.estimated) return;
      // Whatever allocator it is of, it takes room from each core on its own.
      if (buffer->per_core) picture_.per_core = true;
      if (buffer->allocator != allocator) return;
      if (buffer->flags.requested_only || buffer->per_core) {
        picture_.complete = false;  // where it lies in a bank is not known
        return;
      }
      add(slot, *buffer);
    });
    std::ranges::sort(picture_.blocks, {}, &HeldBlock::range);
  }

  void add_programs(DeviceIndex device) {
    LivePrograms::Program program;
    for (const SlotIndex slot : live_.programs.programs()) {
      if (!live_.programs.find(slot, program) || !counts(*program.record)) continue;
      if (live_.catalog.covers(program.record->set, device)) add(program);
    }
  }

 private:
  void find_last_uses() {
    live_.slots.for_each([&](SlotIndex, const Record& record) {
      const auto* workload = std::get_if<WorkloadRecord>(&record);
      if (workload && workload->binaries) last_uses_[*workload->binaries] = workload->launches.last;
    });
  }

  TimeNs time(Ticks ticks) const {
    return ticks == 0 || !naming_.to_time ? ticks : naming_.to_time(ticks);
  }

  void add(SlotIndex slot, const BufferRecord& buffer) {
    if (buffer.block == 0) return;
    HeldBlock block;
    block.range = {buffer.address, ledger::add(buffer.address, buffer.block)};
    block.id = buffer.id;
    block.requested = buffer.requested;
    block.origin = origin(buffer.origin, buffer.operation);
    block.kind = buffer.flags.kernel_binaries ? HeldKind::kKernelBinaries
                 : buffer.flags.trace         ? HeldKind::kTrace
                 : buffer.flags.program_cache ? HeldKind::kProgramCache
                                              : HeldKind::kBuffer;
    block.layout = buffer.layout;
    if (const CoreSet* cores = live_.catalog.cores(buffer.cores)) block.cores = cores->count;
    block.since = time(buffer.allocated);
    const auto used = last_uses_.find(slot);
    if (used != last_uses_.end()) block.last_use = time(used->second);
    picture_.blocks.push_back(block);
  }

  std::uint32_t origin(OriginId id, StringId derived) {
    const auto [known, is_new] = origins_.try_emplace(
        std::pair(id, derived), static_cast<std::uint32_t>(picture_.origins.size()));
    if (is_new) {
      const Catalog& names = live_.catalog;
      picture_.origins.push_back({std::string(names.operation_of(id, derived)),
                                  std::string(names.line_of(id)), names.regions_of(id)});
    }
    return known->second;
  }

  void add(const LivePrograms::Program& program) {
    HeldProgram held;
    const ProgramRecord& record = *program.record;
    held.id = record.id;
    held.name = live_.catalog.name_of(record.name, record.origin);
    held.line = live_.catalog.line_of(record.origin);
    for (const RangeRecord* range : program.ranges) {
      if (!takes_bytes(*range)) continue;
      const AddressRange bytes{range->address, ledger::add(range->address, range->size)};
      held.parts.push_back({range->part, range->index, bytes});
      if (bytes.end <= held.end) continue;
      held.end = bytes.end;
      const CoreSet* cores = live_.catalog.cores(range->cores);
      held.core_set = cores ? to_string(*cores) : "";
    }
    if (const WorkloadRecord* workload = live_.programs.workload(record.workload)) {
      held.dispatches = workload->launches.count;
      held.last_dispatch = time(workload->launches.last);
    }
    picture_.programs.push_back(std::move(held));
  }

  const LiveState& live_;
  const Naming& naming_;
  SpacePicture& picture_;
  struct PairHash {
    std::size_t operator()(const std::pair<OriginId, StringId>& pair) const {
      return std::hash<std::uint64_t>()(std::uint64_t{pair.first} << 32 | pair.second);
    }
  };
  std::unordered_map<std::pair<OriginId, StringId>, std::uint32_t, PairHash> origins_;
  std::unordered_map<SlotIndex, Ticks> last_uses_;
};

void describe_l1(const LiveState& live, AllocatorIndex allocator, DeviceIndex device,
                 SpacePicture& picture) {
  if (const DeviceRecord* record = live.catalog.device(device)) {
    const CoreGeometry& worker = geometry_of(*record, CoreType::kTensix);
    if (worker.l1_bytes != 0) picture.l1_bytes = worker.l1_bytes;
    if (worker.unreserved_base != 0) picture.unreserved_base = worker.unreserved_base;
  }
  const SpaceRecord* small = space_of(live.catalog, allocator, Space::kL1Small);
  if (!small) return;
  picture.l1_small = {small->base, add(small->base, small->bank_bytes)};
  std::uint64_t held = 0;
  live.slots.for_each([&](SlotIndex, const Record& record) {
    const auto* buffer = std::get_if<BufferRecord>(&record);
    if (!buffer || buffer->allocator != allocator || buffer->space != Space::kL1Small) return;
    held = add(held, buffer->block);
  });
  picture.l1_small_held = held;
}

}  // namespace

std::optional<SpacePicture> space_picture(const LiveState& live, const PictureQuestion& question,
                                          const Naming& naming) {
  const AllocatorIndex index = choose_allocator(live, question);
  const SpaceRecord* space = space_of(live.catalog, index, question.space);
  if (!space) return std::nullopt;
  const AllocatorRecord& allocator = *live.catalog.allocator(index);
  DeviceIndex device = question.device;
  if (device == 0) {
    const std::vector<DeviceIndex> devices = live.catalog.devices_in(allocator.set);
    if (!devices.empty()) device = devices.front();
  }
  SpacePicture picture;
  picture.space = question.space;
  if (const DeviceRecord* record = live.catalog.device(device)) picture.arch = record->arch;
  picture.banks = space->banks;
  picture.alignment = space->alignment;
  picture.bank = {space->base, add(space->base, space->bank_bytes)};
  picture.per_core = allocator.per_core;
  Drawing drawing(live, naming, picture);
  drawing.add_blocks(index);
  if (question.space == Space::kL1) {
    drawing.add_programs(device);
    describe_l1(live, index, device, picture);
  }
  return picture;
}

}  // namespace ttmem::ledger
