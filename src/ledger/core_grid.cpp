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
    place->second = empty_mask();
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      if (contains(*set, cores_[i].core)) set_bit(place->second, i);
    }
  }
  return place->second;
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
