// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ledger/live_state.hpp"
#include "ledger/ring_views.hpp"
#include "ledger/system_kernels.hpp"

namespace ttmem::ledger {
namespace {

// What one buffer on one core costs. An L1 that is full of the smallest buffers on all cores of a
// chip has two million of them, and that is no attack.
constexpr std::uint64_t kLayer = Effort::kHeavy * 3 / 4;

// Where program L1 and buffers run into each other on a device, who they are.
class Clashes {
 public:
  Clashes(const LiveState& live, DeviceIndex device) : live_(live), device_(device) {}

  // Both sides on a core whose headroom is negative. The first question walks all slots, which
  // finds the lowest buffers of every core.
  Clash at(const L1Frame& frame, const Standing& standing);

 private:
  using Place = std::pair<std::uint64_t, std::optional<Core>>;  // no core: on every one

  void find_lowest_buffers();
  const BufferRecord* lowest_buffer(const L1Frame& frame) const;

  const LiveState& live_;
  DeviceIndex device_;
  std::optional<std::map<Place, const BufferRecord*>> lowest_;
};

void Clashes::find_lowest_buffers() {
  std::set<std::uint64_t> floors;
  for (const L1Frame& frame : live_.frames.of(device_)) {
    if (frame.floor) floors.insert(*frame.floor);
  }
  lowest_.emplace();
  live_.slots.for_each([&](SlotIndex, const Record& record) {
    const auto* buffer = std::get_if<BufferRecord>(&record);
    if (!buffer || buffer->space != Space::kL1) return;
    live_.buffers.for_each_range(device_, *buffer,
                                 [&](const std::optional<Core>& core, AddressRange range) {
                                   if (floors.contains(range.begin))
                                     lowest_->try_emplace({range.begin, core}, buffer);
                                 });
  });
}

// A list per core may give one address to many buffers; in lock step, one on any core limits all.
const BufferRecord* Clashes::lowest_buffer(const L1Frame& frame) const {
  if (!frame.floor) return nullptr;
  const auto own = lowest_->find({*frame.floor, frame.core.core});
  if (own != lowest_->end()) return own->second;
  const auto any = lowest_->lower_bound({*frame.floor, std::nullopt});
  return any != lowest_->end() && any->first.first == *frame.floor ? any->second : nullptr;
}

Clash Clashes::at(const L1Frame& frame, const Standing& standing) {
  if (!lowest_) find_lowest_buffers();
  const BufferRecord* buffer = lowest_buffer(frame);
  return {standing_name(live_, standing), buffer ? buffer_name(live_, *buffer) : "", nobody()};
}

struct NamedRange {
  AddressRange range;
  std::string name;
  std::uint64_t id = 0;
};

// The buffers of one space of a device: some on every bank, some on a core each.
struct SpaceRanges {
  std::vector<NamedRange> everywhere;
  std::map<Core, std::vector<NamedRange>> by_core;
};

SpaceRanges unnamed_ranges(const LiveState& live, DeviceIndex device, Space space) {
  SpaceRanges ranges;
  for (const AddressRange& range : live.buffers.lock_step_ranges(device, space)) {
    ranges.everywhere.push_back({range, "", 0});
  }
  for (const auto& [core, range] : live.buffers.per_core_ranges(device, space)) {
    ranges.by_core[core].push_back({range, "", 0});
  }
  return ranges;
}

SpaceRanges named_ranges(const LiveState& live, DeviceIndex device, Space space) {
  SpaceRanges ranges;
  live.slots.for_each([&](SlotIndex, const Record& record) {
    const auto* buffer = std::get_if<BufferRecord>(&record);
    if (!buffer || buffer->space != space) return;
    live.buffers.for_each_range(
        device, *buffer, [&](const std::optional<Core>& core, AddressRange range) {
          NamedRange named{range, buffer_name(live, *buffer), buffer->id};
          live.catalog.effort().spend(Effort::kHeavy + named.name.size() / 64);
          (core ? ranges.by_core[*core] : ranges.everywhere).push_back(std::move(named));
        });
  });
  return ranges;
}

class Builder {
 public:
  Builder(const LiveState& live, DeviceIndex device, bool with_names)
      : live_(live), device_(device), with_names_(with_names), clashes_(live, device) {
    const auto find = with_names ? named_ranges : unnamed_ranges;
    l1_ = find(live, device, Space::kL1);
    l1_small_ = find(live, device, Space::kL1Small);
    if (live.catalog.is_open(device)) standing_ = live.residency.standing(device);
    reserved_ = live.residency.reserved(device);
    footprint_ = footprints();
    occupied_ = live.buffers.occupied_by_core(device, Space::kL1, *live.grids.of(device));
    small_occupied_ =
        live.buffers.occupied_by_core(device, Space::kL1Small, *live.grids.of(device));
    collect_slices();
    if (with_names) system_.emplace(live, device);
  }

  CoreLayers build(std::size_t position, const L1Frame& frame) {
    CoreLayers core;
    core.frame = frame;
    views_.clear();
    if (standing_) add_program(position, core);
    if (frame.bank) {
      add_space(l1_, Stretch::kBuffer, core);
      add_space(l1_small_, Stretch::kL1Small, core);
      core.view.buffers_occupied = occupied_[position];
      core.view.l1_small_occupied = small_occupied_[position];
      core.view.l1_small_taken = bytes_of(l1_small_, frame.core.core);
    }
    if (system_) system_->add_to(position, core);
    add_slices(core);
    add_figures(position, core);
    return core;
  }

 private:
  void add_program(std::size_t position, CoreLayers& core) {
    const Standing& standing = (*standing_)[position];
    const std::uint64_t ceiling = core.frame.ceiling();
    const auto add_layer = [&](AddressRange range, std::string name) {
      range.end = std::min(range.end, ceiling);
      if (range.begin >= range.end) return;
      core.layers.push_back({Stretch::kProgramL1, range, std::move(name), nullptr});
    };
    LivePrograms::Program program;
    if (!with_names_ || standing.program == kNoSlot ||
        !live_.programs.find(standing.program, program)) {
      for (const AddressRange& range : standing.ranges) add_layer(range, "");
      return;
    }
    const CoreGrid& grid = *live_.grids.of(device_);
    for (const RangeRecord* range : program.ranges) {
      if (!has_bit(grid.mask(range->cores), position)) continue;
      std::string name = range_name(live_, *range, *program.record, standing.trace);
      live_.catalog.effort().spend(Effort::kHeavy + name.size() / 64);
      if (range->part == Part::kView) {
        views_[range->viewed_buffer] = std::move(name);
      } else {
        add_layer({range->address, add(range->address, range->size)}, std::move(name));
      }
    }
  }

  void add_space(const SpaceRanges& ranges, Stretch kind, CoreLayers& core) {
    const auto add_all = [&](const std::vector<NamedRange>& list) {
      for (const NamedRange& named : list) {
        live_.catalog.effort().spend(kLayer + named.name.size() / 64);
        std::string name = named.name;
        const auto view = with_names_ ? views_.find(named.id) : views_.end();
        if (view != views_.end()) name += ", seen as " + view->second;
        core.layers.push_back({kind, named.range, std::move(name), nullptr});
      }
    };
    add_all(ranges.everywhere);
    const auto own = ranges.by_core.find(core.frame.core.core);
    if (own != ranges.by_core.end()) add_all(own->second);
  }

  static std::uint64_t bytes_of(const SpaceRanges& ranges, const Core& core) {
    std::vector<AddressRange> all;
    for (const NamedRange& named : ranges.everywhere) all.push_back(named.range);
    const auto own = ranges.by_core.find(core);
    if (own != ranges.by_core.end()) {
      for (const NamedRange& named : own->second) all.push_back(named.range);
    }
    return total_bytes(merged(std::move(all)));
  }

  // Where no program that lives has a slice, the ring is free, as the figures of rings say.
  void collect_slices() {
    const RingSlices slices(live_, with_names_);
    for (const auto& [index, manager] : live_.ring_managers) {
      if (!manager.open || !live_.catalog.covers(manager.set, device_)) continue;
      for (const RingRecord& ring : manager.rings) {
        for (RingSliceView& slice : slices.of(ring)) {
          if (slice.live && slice.begin < slice.end)
            slices_.emplace_back(ring.core_type, std::move(slice));
        }
      }
    }
  }

  // A manager serves the workers of its sub-device; the device itself loads a dispatch core.
  void add_slices(CoreLayers& core) const {
    if (core.frame.core.role == Role::kDispatch) return;
    for (const auto& [type, slice] : slices_) {
      live_.catalog.effort().spend(Effort::kHeavy + slice.name.size() / 64);
      if (type != core.frame.core.core.type) continue;
      core.layers.push_back({Stretch::kRing, {slice.begin, slice.end}, slice.name, nullptr});
    }
  }

  std::vector<std::uint64_t> footprints() const {
    const CoreGrid& grid = *live_.grids.of(device_);
    std::vector<std::uint64_t> sums(grid.size());
    if (!live_.catalog.is_open(device_)) return sums;
    for (const SetIndex set : live_.catalog.sets_of(device_)) {
      const ProgramTotals* totals = live_.programs.totals(set);
      if (!totals) continue;
      for (const auto& [key, group] : totals->kernels()) {
        live_.catalog.effort().spend(grid.size() / 8 + 1);
        for_each_bit(
            grid.mask(std::get<2>(key)),
            [&, packed = narrow(group.packed)](std::size_t i) { sums[i] = add(sums[i], packed); });
      }
    }
    return sums;
  }

  void add_figures(std::size_t position, CoreLayers& core) {
    const auto& reserved = (*reserved_)[position];
    core.view.reserved = total_bytes(reserved);
    core.view.kernel_footprint = footprint_[position];
    if (!standing_) return;
    const Standing& standing = (*standing_)[position];
    core.view.headroom = core.frame.headroom(end_of(standing.ranges));
    core.view.headroom_reserved = core.frame.headroom(end_of(reserved));
    if (core.view.headroom.value_or(0) < 0) core.view.clash = clashes_.at(core.frame, standing);
  }

  const LiveState& live_;
  DeviceIndex device_;
  bool with_names_;
  SpaceRanges l1_, l1_small_;
  const std::vector<Standing>* standing_ = nullptr;
  const std::vector<std::vector<AddressRange>>* reserved_ = nullptr;
  std::vector<std::uint64_t> footprint_, occupied_, small_occupied_;
  std::vector<std::pair<CoreType, RingSliceView>> slices_;
  std::map<std::uint64_t, std::string> views_;  // of the core at hand, by buffer
  Clashes clashes_;
  std::optional<SystemKernels> system_;  // with names
};

}  // namespace

std::vector<CoreLayers> core_layers(const LiveState& live, DeviceIndex device, bool with_names) {
  std::vector<CoreLayers> cores;
  if (!live.grids.of(device)) return cores;
  Builder builder(live, device, with_names);
  const std::vector<L1Frame>& frames = live.frames.of(device);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    cores.push_back(builder.build(i, frames[i]));
  }
  return cores;
}

}  // namespace ttmem::ledger
