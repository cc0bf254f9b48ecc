// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/core_grid.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ttmem::ledger {
namespace {

// A harvested core is not there, and a list that names a core twice means it once.
std::vector<CoreRecord> usable(std::vector<CoreRecord> cores) {
  std::set<Core> seen;
  std::erase_if(cores, [&](const CoreRecord& record) {
    return record.role == Role::kHarvested || !seen.insert(record.core).second;
  });
  return cores;
}

}  // namespace

void join(CoreMask& to, const CoreMask& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] |= from[i];
}

void intersect(CoreMask& to, const CoreMask& with) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] &= with[i];
}

std::uint32_t count_bits(const CoreMask& mask) {
  int count = 0;
  for (const std::uint64_t word : mask) count += std::popcount(word);
  return static_cast<std::uint32_t>(count);
}

CoreGrid::CoreGrid(const Catalog& catalog, std::vector<CoreRecord> cores)
    : catalog_(catalog), cores_(std::move(cores)), none_(empty_mask()) {}

const CoreMask& CoreGrid::mask(CoresId id) const {
  if (masks_as_of_ != catalog_.cores_version()) {
    masks_.clear();
    masks_as_of_ = catalog_.cores_version();
  }
  const CoreSet* set = catalog_.cores(id);
  if (!set) return none_;
  const auto [place, is_new] = masks_.try_emplace(id);
  if (is_new) {
    catalog_.effort().spend(cores_.size() * (set->ranges.size() + 1) / 8);
    place->second = empty_mask();
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      if (contains(*set, cores_[i].core)) set_bit(place->second, i);
    }
  }
  return place->second;
}

CoreSet cores_in(const CoreGrid& grid, const CoreMask& mask, CoreType type) {
  std::vector<Core> cores;
  for_each_bit(mask, [&](std::size_t i) {
    if (grid.cores()[i].core.type == type) cores.push_back(grid.cores()[i].core);
  });
  std::ranges::sort(cores, {}, [](const Core& core) { return std::pair(core.y, core.x); });
  CoreSet set;
  set.type = type;
  set.count = static_cast<std::uint32_t>(cores.size());
  for (const Core& core : cores) {  // runs of a row
    const bool goes_on =
        !set.ranges.empty() && set.ranges.back().y1 == core.y && set.ranges.back().x1 + 1 == core.x;
    if (goes_on) {
      set.ranges.back().x1 = core.x;
    } else {
      set.ranges.push_back({core.x, core.y, core.x, core.y});
    }
  }
  std::vector<CoreRange> joined;  // equal runs of rows one below the other
  for (const CoreRange& run : set.ranges) {
    const auto above = std::ranges::find_if(joined, [&](const CoreRange& range) {
      return range.x0 == run.x0 && range.x1 == run.x1 && range.y1 + 1 == run.y0;
    });
    if (above != joined.end()) {
      above->y1 = run.y1;
    } else {
      joined.push_back(run);
    }
  }
  set.ranges = std::move(joined);
  return set;
}

const CoreGrid* CoreGrids::of(DeviceIndex device) const {
  if (as_of_ != catalog_.devices_version()) {
    as_of_ = catalog_.devices_version();
    grids_.clear();
    by_device_.clear();
  }
  if (!catalog_.device(device)) return nullptr;
  if (device >= by_device_.size()) by_device_.resize(device + std::size_t{1});
  const CoreGrid*& place = by_device_[device];
  if (place) return place->size() == 0 ? nullptr : place;
  std::vector<CoreRecord> cores = usable(cores_of(*catalog_.device(device)));
  const auto same = std::find_if(grids_.begin(), grids_.end(),
                                 [&](const auto& grid) { return grid->cores() == cores; });
  if (same == grids_.end()) {
    grids_.push_back(std::make_unique<CoreGrid>(catalog_, std::move(cores)));
    place = grids_.back().get();
  } else {
    place = same->get();
  }
  return place->size() == 0 ? nullptr : place;
}

}  // namespace ttmem::ledger
