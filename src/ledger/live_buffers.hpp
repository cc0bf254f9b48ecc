// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The buffers of one process. Sums are kept by what decides how a block is multiplied (allocator,
// set, space, cores), not by device: one buffer on 32 chips is one addition, and a figure of a
// device is a walk over a few such groups.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ledger/address_map.hpp"
#include "ledger/catalog.hpp"
#include "ledger/core_grid.hpp"
#include "ledger/figures.hpp"
#include "ledger/records.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {

// Where the buffers of a process begin in the L1 of a device. In lock-step mode one address holds
// for every core; an allocator with a list per core limits only the cores of each such buffer.
struct L1Floor {
  std::optional<std::uint64_t> everywhere;
  std::vector<std::pair<Core, std::uint64_t>> by_core;  // sorted by core, one entry each

  std::optional<std::uint64_t> at(const Core& core) const;
};

// The bytes that one buffer takes and holds on one device; empty = not known.
struct BufferBytes {
  Figure block, occupied, taken;
};

class LiveBuffers {
 public:
  explicit LiveBuffers(const Catalog& catalog) : catalog_(catalog) {}

  void add(SlotIndex slot, const BufferRecord& buffer);
  void remove(SlotIndex slot, const BufferRecord& buffer);  // exactly as it was added

  // Fills spaces, in_dram and basis; `largest_free` only on request.
  void fill(DeviceIndex device, bool with_largest_free, DeviceFigures& figures) const;
  L1Floor l1_floor(DeviceIndex device) const;
  // The addresses that L1 or L1_SMALL buffers take on every core that is a bank, and those of
  // per-core buffers by core, sorted by core.
  std::vector<AddressRange> lock_step_ranges(DeviceIndex device, Space space) const;
  std::vector<std::pair<Core, AddressRange>> per_core_ranges(DeviceIndex device, Space space) const;

  // Calls visit(core, range) for each range of a buffer on a device: once without a core for a
  // lock-step buffer, once per core for a per-core buffer.
  template <typename Visit>
  void for_each_range(DeviceIndex device, const BufferRecord& buffer, Visit visit) const;
  // Bytes of buffers with data on each core of the grid.
  std::vector<std::uint64_t> occupied_by_core(DeviceIndex device, Space space,
                                              const CoreGrid& grid) const;

  BufferBytes bytes_of(const BufferRecord& buffer) const;
  SetIndex set_of(const BufferRecord& buffer) const;
  // No estimate, and on something that is there.
  bool is_in_totals(const BufferRecord& buffer) const;
  // All of them, estimates and those that dangle too.
  std::uint64_t count() const { return count_; }
  // Buffers whose set, allocator or cores are not there.
  std::uint64_t dangling() const;

 private:
  struct Key {
    AllocatorIndex allocator = 0;
    SetIndex set = 0;
    CoresId cores = 0;
    Space space = Space::kDram;
    bool per_core = false;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Sums {
    std::uint64_t count = 0;
    Wide block = 0, requested = 0;
    Wide binaries = 0;             // the part of `block` that holds kernel binaries
    std::uint64_t bare_count = 0;  // buffers without a known block
    Wide bare_requested = 0;
    AddressMap* addresses = nullptr;
  };
  struct Multipliers {
    std::uint32_t taken = 0, occupied = 0;
  };

  static Key key_of(const BufferRecord& buffer);
  Sums& sums_of(const Key& key);
  static std::uint32_t place_of(AllocatorIndex allocator, Space space);
  AddressMap& addresses(AllocatorIndex allocator, Space space);
  const AddressMap* addresses(AllocatorIndex allocator, Space space) const;
  std::optional<SetIndex> resolved_set(const Key& key) const;
  std::optional<Multipliers> multipliers(const Key& key) const;
  std::uint64_t unresolved(const Key& key, const Sums& sums) const;
  void add_group(const Key& key, const Sums& group, DeviceFigures& figures) const;
  void fill_capacity(DeviceIndex device, bool with_largest_free, DeviceFigures& figures) const;
  std::uint64_t largest_free(DeviceIndex device, AllocatorIndex allocator, Space space) const;
  template <typename Visit>
  void for_each_per_core(DeviceIndex device, Visit visit) const;
  static bool counts(const BufferRecord& buffer);  // has a block that is in the totals
  // Where a per-core buffer lies, core by core.
  std::vector<std::pair<Core, AddressRange>> places_of(const BufferRecord& buffer) const;

  const Catalog& catalog_;
  std::uint64_t count_ = 0;
  std::unordered_map<Key, Sums, KeyHash> groups_;
  std::unordered_map<std::uint32_t, AddressMap> addresses_;  // by place_of
  std::unordered_map<SlotIndex, BufferRecord> per_core_;
};

template <typename Visit>
void LiveBuffers::for_each_range(DeviceIndex device, const BufferRecord& buffer,
                                 Visit visit) const {
  if (!counts(buffer) || !catalog_.covers(set_of(buffer), device)) return;
  if (!buffer.per_core) {
    visit(std::optional<Core>(),
          AddressRange{buffer.address, ledger::add(buffer.address, buffer.block)});
    return;
  }
  for (const auto& [core, range] : places_of(buffer)) visit(std::optional<Core>(core), range);
}

}  // namespace ttmem::ledger
