// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/ring_views.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ledger/live_state.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::uint64_t kTrace = ~std::uint64_t{0};  // RingSlice::workload

bool is_live(const LiveState& live, const RingSlice& slice) {
  return slice.workload == kTrace || live.programs.workload(slice.workload) != nullptr;
}

AddressRange range_of(const RingRecord& ring, const RingSlice& slice) {
  const std::uint64_t end = std::uint64_t{ring.base} + ring.bytes;
  return {std::clamp<std::uint64_t>(slice.address, ring.base, end),
          std::clamp<std::uint64_t>(std::uint64_t{slice.address} + slice.bytes, ring.base, end)};
}

// Bytes from here on that no slice is on.
std::uint64_t run_at(std::uint64_t address, std::uint64_t end,
                     const std::vector<AddressRange>& taken) {
  std::uint64_t next = end;
  for (const AddressRange& range : taken) {
    if (range.end > address) next = std::min(next, std::max(range.begin, address));
  }
  return subtract(next, address);
}

// Fills free, largest_free and would_evict.
void measure_room(const LiveState& live, const RingRecord& ring, RingFigures& figures) {
  const std::uint64_t end = std::uint64_t{ring.base} + ring.bytes;
  std::vector<AddressRange> taken;
  const std::uint64_t largest = ring.largest_bytes;
  const std::uint64_t place = largest <= ring.next_bytes ? ring.next_address : ring.base;
  const auto is_largest = [&](const RingSlice& slice) {
    return slice.bytes == largest && slice.workload != kTrace;
  };
  // Of several that are as large, the one launched last: nobody evicts itself.
  const auto own = std::ranges::find_if(ring.contents.rbegin(), ring.contents.rend(), is_largest);
  for (const RingSlice& slice : ring.contents) {
    const AddressRange range = range_of(ring, slice);
    if (range.begin >= range.end || !is_live(live, slice)) continue;
    taken.push_back(range);
    const bool in_the_way = range.begin < place + largest && place < range.end;
    const bool itself = own != ring.contents.rend() && &slice == &*own;
    figures.would_evict += in_the_way && !itself ? 1 : 0;
  }
  figures.free = subtract(ring.bytes, total_bytes(merged(taken)));
  const std::uint64_t at_cursor =
      std::min<std::uint64_t>(run_at(ring.next_address, end, taken), ring.next_bytes);
  const std::uint64_t at_base = run_at(ring.base, end, taken);
  figures.largest_free = at_base > ring.next_bytes ? at_base : at_cursor;
}

}  // namespace

RingFigures ring_figures(const LiveState& live, const RingManagerRecord& manager,
                         const RingRecord& ring) {
  RingFigures figures;
  figures.core_type = ring.core_type;
  figures.queue = manager.queue;
  figures.sub_device = manager.sub_device;
  figures.capacity = ring.bytes;
  figures.programs = ring.slices.size();
  for (const RingSlice& slice : ring.slices) figures.used += slice.bytes;
  figures.used = std::min(figures.used, figures.capacity);
  figures.largest_program = ring.largest_bytes;
  figures.high_water = std::min(ring.high_water, ring.bytes);
  measure_room(live, ring, figures);
  figures.evictions = manager.evictions;
  figures.reloads = manager.reloads;
  figures.observed = manager.observed;
  return figures;
}

RingSlices::RingSlices(const LiveState& live, bool with_names)
    : live_(live), with_names_(with_names) {
  if (!with_names) return;
  const std::vector<SlotIndex> programs = live.programs.programs();
  live.catalog.effort().spend(programs.size());
  for (const SlotIndex slot : programs) {
    first_programs_.try_emplace(live.slots.get<ProgramRecord>(slot)->workload, slot);
  }
}

std::string RingSlices::name_of(std::uint64_t workload) const {
  if (!with_names_ || workload == 0) return "";
  if (workload == kTrace) return "a trace";
  const auto found = first_programs_.find(workload);
  if (found == first_programs_.end()) return fmt::format("workload {:#x}", workload);
  return program_name(live_, *live_.slots.get<ProgramRecord>(found->second));
}

std::vector<RingSliceView> RingSlices::of(const RingRecord& ring) const {
  std::vector<RingSliceView> views;
  for (const RingSlice& slice : ring.contents) {
    RingSliceView& view = views.emplace_back();
    const AddressRange range = range_of(ring, slice);
    view.begin = range.begin;
    view.end = range.end;
    view.workload = slice.workload == kTrace ? 0 : slice.workload;
    view.name = name_of(slice.workload);
    view.live = is_live(live_, slice);
    view.in_use = std::ranges::any_of(ring.slices, [&](const RingSlice& used) {
      return used.address == slice.address && used.workload == slice.workload;
    });
  }
  std::ranges::sort(views, {}, &RingSliceView::begin);
  return views;
}

std::vector<RingView> ring_views(const LiveState& live, DeviceIndex device, const Naming& naming) {
  std::vector<RingView> views;
  const RingSlices slices(live, true);
  for (const auto& [index, manager] : live.ring_managers) {
    if (!manager.open || !live.catalog.covers(manager.set, device)) continue;
    for (const RingRecord& ring : manager.rings) {
      RingView& view = views.emplace_back();
      view.process = naming.process;
      view.figures = ring_figures(live, manager, ring);
      view.base = ring.base;
      view.slices = slices.of(ring);
    }
  }
  return views;
}

}  // namespace ttmem::ledger
