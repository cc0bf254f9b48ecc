// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The cores of a device that are there, as positions 0..n-1, and sets of cores as bit masks over
// them. Chips of a mesh have the same cores, so they share one grid and its masks.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ledger/catalog.hpp"

namespace ttmem::ledger {

using CoreMask = std::vector<std::uint64_t>;

inline void set_bit(CoreMask& mask, std::size_t i) { mask[i / 64] |= std::uint64_t{1} << i % 64; }
inline bool has_bit(const CoreMask& mask, std::size_t i) { return mask[i / 64] >> i % 64 & 1; }
inline void clear_bit(CoreMask& mask, std::size_t i) {
  mask[i / 64] &= ~(std::uint64_t{1} << i % 64);
}
void join(CoreMask& to, const CoreMask& from);
void intersect(CoreMask& to, const CoreMask& with);
std::uint32_t count_bits(const CoreMask& mask);

template <typename Visit>
void for_each_bit(const CoreMask& mask, Visit visit) {
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (std::uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      visit(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
}

class CoreGrid {
 public:
  CoreGrid(const Catalog& catalog, std::vector<CoreRecord> cores);  // each core once

  const std::vector<CoreRecord>& cores() const { return cores_; }
  std::size_t size() const { return cores_.size(); }
  CoreMask empty_mask() const { return CoreMask((cores_.size() + 63) / 64); }
  // The positions of a set's cores; empty if it is not known. Cores that the device does not have
  // are left out.
  const CoreMask& mask(CoresId id) const;

 private:
  const Catalog& catalog_;
  std::vector<CoreRecord> cores_;
  CoreMask none_;
  mutable std::unordered_map<CoresId, CoreMask> masks_;
  mutable std::uint64_t masks_as_of_ = 0;
};

// The cores of one type that a mask has, as few rectangles as row by row gives.
CoreSet cores_in(const CoreGrid& grid, const CoreMask& mask, CoreType type);

// One grid for all devices of a process that have the same cores.
class CoreGrids {
 public:
  explicit CoreGrids(const Catalog& catalog) : catalog_(catalog) {}
  // Null if the device or its cores are not known.
  const CoreGrid* of(DeviceIndex device) const;

 private:
  const Catalog& catalog_;
  mutable std::vector<std::unique_ptr<CoreGrid>> grids_;
  mutable std::vector<const CoreGrid*> by_device_;
  mutable std::uint64_t as_of_ = 0;
};

}  // namespace ttmem::ledger
