// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ledger/live_state.hpp"
#include "ledger/ring_views.hpp"

namespace ttmem::ledger {
namespace {

Figure resident_bytes(const LiveState& live, DeviceIndex device) {
  // Before the first launch nothing is in the cores, and after the close nobody may rely on it:
  // both are known to be nothing, whether or not the cores are known.
  if (!live.catalog.is_open(device) || !live.residency.launched(device)) return 0;
  const auto* standing = live.residency.standing(device);
  if (!standing) return std::nullopt;
  const std::vector<L1Frame>& frames = live.frames.of(device);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // A buffer that was allocated over the end of a program's L1 owns those bytes now.
    sum = add(sum, bytes_below((*standing)[i].ranges, frames[i].ceiling()));
  }
  return sum;
}

Figure reserved_bytes(const LiveState& live, DeviceIndex device) {
  const auto* reserved = live.residency.reserved(device);
  if (!reserved) return std::nullopt;
  std::uint64_t sum = 0;
  for (const auto& ranges : *reserved) sum = add(sum, total_bytes(ranges));
  return sum;
}

// Equal code once, also if two sets of the device have it.
std::uint64_t unique_bytes(const LiveState& live, DeviceIndex device) {
  std::vector<const ProgramTotals*> sets;
  for (const SetIndex set : live.catalog.sets_of(device)) {
    if (const ProgramTotals* totals = live.programs.totals(set)) sets.push_back(totals);
  }
  std::uint64_t sum = 0;
  std::set<Code> seen;
  for (const ProgramTotals* totals : sets) {
    sum = add(sum, totals->unique_bytes());
    // Nearly every process has one set: then its own sum is the answer, without a look at each
    // code.
    if (sets.size() == 1) break;
    live.catalog.effort().spend(totals->codes().size() * Effort::kHeavy);
    for (const auto& [code, use] : totals->codes()) {
      const bool again = code.hash != 0 && !seen.insert(code).second;
      if (again) sum = subtract(sum, code.bytes);
    }
  }
  return sum;
}

// The binaries that repeat most. Equal code of two sets is one. Of its names the first by alphabet
// is told: in which order they came, no two readers need to have seen.
std::vector<SharedCode> shared_code(const LiveState& live, DeviceIndex device) {
  struct Use {
    std::uint64_t kernels = 0;
    std::string_view name;
  };
  std::map<Code, Use> all;
  for (const SetIndex set : live.catalog.sets_of(device)) {
    const ProgramTotals* totals = live.programs.totals(set);
    if (!totals) continue;
    live.catalog.effort().spend(totals->codes().size());
    for (const auto& [code, use] : totals->codes()) {
      if (code.hash == 0) continue;
      Use& sum = all[code];
      sum.kernels = add(sum.kernels, use.kernels);
      live.catalog.effort().spend(use.names.size());
      for (const auto& [id, kernels] : use.names) {
        const std::string_view name = live.catalog.string(id);
        if (sum.name.empty() || name < sum.name) sum.name = name;
      }
    }
  }
  std::vector<SharedCode> shared;
  for (const auto& [code, use] : all) {
    if (use.kernels < 2 || code.bytes == 0) continue;
    shared.push_back({std::string(use.name), code.bytes, use.kernels});
  }
  keep_most_repeated(shared);
  return shared;
}

}  // namespace

SetFigures program_sums(const LiveState& live, DeviceIndex device) {
  SetFigures sum;
  live.catalog.effort().spend(live.catalog.sets_of(device).size() * Effort::kHeavy);
  for (const SetIndex set : live.catalog.sets_of(device)) {
    if (live.programs.totals(set)) sum += live.programs.figures(set);
  }
  // Kernels are in the device's memory only while it is open; the programs themselves live on.
  if (!live.catalog.is_open(device)) {
    sum.by_type = {};
    sum.by_core_type = {};
    sum.estimated = {};
  }
  return sum;
}

void fill_program_l1(const LiveState& live, DeviceIndex device, const SetFigures& sum,
                     DeviceFigures& figures) {
  ProgramL1Figures& l1 = figures.program_l1;
  l1.allocated = sum.l1_allocated;
  l1.count = sum.with_l1;
  const bool unknown = sum.unknown_residency > 0 && live.catalog.is_open(device);
  l1.resident = unknown ? Figure() : resident_bytes(live, device);
  // Without the cores of the device the union is not known, but that of no program is.
  l1.reserved = sum.with_l1 == 0 ? Figure(0) : reserved_bytes(live, device);
}

void fill_kernels(const LiveState& live, DeviceIndex device, const SetFigures& sum,
                  KernelFigures& figures) {
  figures.registered = sum.registered;
  for (std::size_t i = 0; i < kKernelTypes; ++i) {
    const auto& [count, programs, footprint] = sum.by_type[i];
    figures.by_type[i] = {count, programs, footprint};
  }
  figures.estimated = {sum.estimated.count, sum.estimated.programs, sum.estimated.footprint};
  std::ranges::copy(sum.by_core_type, figures.by_core_type.begin());
  const bool open = live.catalog.is_open(device);
  figures.code_bytes = open ? sum.code_bytes : 0;
  figures.unique_bytes = open ? unique_bytes(live, device) : 0;
  // Without a second kernel of any code there is nothing to look for.
  if (figures.code_bytes > figures.unique_bytes) figures.shared_code = shared_code(live, device);
}

void fill_launches(const LiveState& live, DeviceIndex device, KernelFigures& figures) {
  std::uint64_t dispatches = 0, replays = 0, evictions = 0;
  for (const SetIndex set : live.catalog.sets_of(device)) {
    dispatches = add(dispatches, live.programs.dispatches(set));
    replays = add(replays, live.programs.replays(set));
  }
  for (const auto& [index, manager] : live.ring_managers) {
    if (live.catalog.covers(manager.set, device)) evictions = add(evictions, manager.evictions);
  }
  figures.evictions = evictions;
  const auto found = live.counters.find(device);
  // Launches of programs that are gone are in the counters alone. Without those the sum over the
  // living would be too small, so it is not told at all.
  if (found == live.counters.end()) return;
  const DeviceCounters& counters = found->second;
  figures.dispatches = add(dispatches, counters.dispatches_released);
  figures.replays = add(replays, counters.replays_released);
  figures.first_loads = counters.first_loads;
  figures.reloads = counters.reloads;
  figures.captures = counters.captures;
  // A launch is a hit unless it had to load. Counted this way round, a hit costs the writer
  // nothing.
  figures.cache_hits =
      subtract(subtract(*figures.dispatches, counters.first_loads), counters.reloads);
}

void fill_rings(const LiveState& live, DeviceIndex device, DeviceFigures& figures) {
  for (const auto& [index, manager] : live.ring_managers) {
    if (!manager.open || !live.catalog.covers(manager.set, device)) continue;
    for (const RingRecord& ring : manager.rings) {
      figures.rings.push_back(ring_figures(live, manager, ring));
    }
  }
}

void fill_peaks(const LiveState& live, DeviceIndex device, DeviceFigures& figures) {
  const auto found = live.counters.find(device);
  if (found == live.counters.end()) return;
  for (std::size_t i = 0; i < kSpaces; ++i) {
    SpaceFigures& space = figures.spaces[i];
    // A reader may see the table a moment before the counters: a peak below what is there now would
    // contradict itself on the screen.
    if (space.taken) space.peak = std::max(found->second.peak[i], *space.taken);
  }
  ProgramL1Figures& l1 = figures.program_l1;
  if (l1.resident) l1.peak = std::max(found->second.program_l1_peak, *l1.resident);
}

Headroom headroom(const LiveState& live, DeviceIndex device) {
  Headroom result;
  // On a closed device nothing can clash any more; the last values would only frighten.
  if (!live.catalog.is_open(device)) return result;
  const auto* standing = live.residency.standing(device);
  const auto* reserved = live.residency.reserved(device);
  const std::vector<L1Frame>& frames = live.frames.of(device);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto room = frames[i].headroom(end_of((*standing)[i].ranges));
    if (room && (!result.min || *room < *result.min)) result.core = frames[i].core.core;
    lower(result.min, room);
    lower(result.min_reserved, frames[i].headroom(end_of((*reserved)[i])));
  }
  return result;
}

}  // namespace ttmem::ledger
