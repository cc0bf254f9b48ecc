// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/core_layers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ledger/clashes.hpp"
#include "ledger/holding_names.hpp"

namespace ttmem::ledger {
namespace {

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

SpaceRanges unnamed_ranges(const Books& books, DeviceIndex device, Space space) {
  SpaceRanges ranges;
  for (const AddressRange& range : books.buffers.lock_step_ranges(device, space)) {
    ranges.everywhere.push_back({range, "", 0});
  }
  for (const auto& [core, range] : books.buffers.per_core_ranges(device, space)) {
    ranges.by_core[core].push_back({range, "", 0});
  }
  return ranges;
}

SpaceRanges named_ranges(const Books& books, DeviceIndex device, Space space) {
  SpaceRanges ranges;
  books.slots.for_each([&](SlotIndex, const Record& record) {
    const auto* buffer = std::get_if<BufferRecord>(&record);
    if (!buffer || buffer->space != space) return;
    books.buffers.for_each_range(
        device, *buffer, [&](const std::optional<Core>& core, AddressRange range) {
          NamedRange named{range, buffer_name(books, *buffer), buffer->id};
          books.catalog.effort().spend(1 + named.name.size() / 64);
          (core ? ranges.by_core[*core] : ranges.everywhere).push_back(std::move(named));
        });
  });
  return ranges;
}

class Builder {
 public:
  Builder(const Books& books, DeviceIndex device, bool with_names)
      : books_(books), device_(device), with_names_(with_names), clashes_(books, device) {
    const auto find = with_names ? named_ranges : unnamed_ranges;
    l1_ = find(books, device, Space::kL1);
    l1_small_ = find(books, device, Space::kL1Small);
    if (books.catalog.is_open(device)) standing_ = books.residency.standing(device);
    reserved_ = books.residency.reserved(device);
    footprint_ = footprints();
    occupied_ = books.buffers.occupied_by_core(device, Space::kL1, *books.grids.of(device));
    small_occupied_ =
        books.buffers.occupied_by_core(device, Space::kL1Small, *books.grids.of(device));
    collect_slices();
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
    ProgramBook::Program program;
    if (!with_names_ || standing.program == kNoSlot ||
        !books_.programs.find(standing.program, program)) {
      for (const AddressRange& range : standing.ranges) add_layer(range, "");
      return;
    }
    const CoreGrid& grid = *books_.grids.of(device_);
    for (const RangeRecord* range : program.ranges) {
      if (!has_bit(grid.mask(range->cores), position)) continue;
      std::string name = range_name(books_, *range, *program.record, standing.trace);
      books_.catalog.effort().spend(1 + name.size() / 64);
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
        books_.catalog.effort().spend(1 + named.name.size() / 64);
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

  void collect_slices() {
    for (const auto& [index, manager] : books_.ring_managers) {
      if (!manager.open || !books_.catalog.covers(manager.set, device_)) continue;
      for (const RingRecord& ring : manager.rings) {
        for (const RingSlice& slice : ring.slices) {
          slices_.push_back({ring.core_type,
                             {{slice.address, std::uint64_t{slice.address} + slice.bytes},
                              with_names_ ? slice_name(books_, slice) : "",
                              0}});
        }
      }
    }
  }

  // A manager serves the workers of its sub-device; the device itself loads a dispatch core.
  void add_slices(CoreLayers& core) const {
    if (core.frame.core.role == Role::kDispatch) return;
    for (const auto& [type, slice] : slices_) {
      books_.catalog.effort().spend(1 + slice.name.size() / 64);
      if (type != core.frame.core.core.type) continue;
      core.layers.push_back({Stretch::kRing, slice.range, slice.name, nullptr});
    }
  }

  std::vector<std::uint64_t> footprints() const {
    const CoreGrid& grid = *books_.grids.of(device_);
    std::vector<std::uint64_t> sums(grid.size());
    if (!books_.catalog.is_open(device_)) return sums;
    for (const SetIndex set : books_.catalog.sets_of(device_)) {
      const ProgramTotals* totals = books_.programs.totals(set);
      if (!totals) continue;
      for (const auto& [key, group] : totals->kernels()) {
        books_.catalog.effort().spend(grid.size() / 8 + 1);
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

  const Books& books_;
  DeviceIndex device_;
  bool with_names_;
  SpaceRanges l1_, l1_small_;
  const std::vector<Standing>* standing_ = nullptr;
  const std::vector<std::vector<AddressRange>>* reserved_ = nullptr;
  std::vector<std::uint64_t> footprint_, occupied_, small_occupied_;
  std::vector<std::pair<CoreType, NamedRange>> slices_;
  std::map<std::uint64_t, std::string> views_;  // of the core at hand, by buffer
  Clashes clashes_;
};

}  // namespace

std::vector<CoreLayers> core_layers(const Books& books, DeviceIndex device, bool with_names) {
  std::vector<CoreLayers> cores;
  if (!books.grids.of(device)) return cores;
  Builder builder(books, device, with_names);
  const std::vector<L1Frame>& frames = books.frames.of(device);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    cores.push_back(builder.build(i, frames[i]));
  }
  return cores;
}

}  // namespace ttmem::ledger
