// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/allocators.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "inject/audit.hpp"
#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"

namespace ttmem::inject::allocators {

namespace {

using metal::functions;

/// The key of a place whose allocator has ended: a search goes on past it.
const void* const kGone = reinterpret_cast<const void*>(1);

/// Allocators that were in use at the fork: each until its buffers are read.
std::atomic<const void*> inherited[kMax];

/// One past the highest buffer id of allocators that gave up their place.
std::atomic<std::uint64_t> highest_before{0};

/// One past the highest buffer id that was seen anywhere. The state lock must be held.
std::uint64_t highest_id() {
  std::uint64_t highest = highest_before.load(std::memory_order_relaxed);
  for (const Allocator& entry : table) {
    highest = std::max(highest, entry.next_id.load(std::memory_order_relaxed));
  }
  highest_before.store(highest, std::memory_order_relaxed);
  return highest;
}

std::size_t place(const void* allocator) {
  return (reinterpret_cast<std::uintptr_t>(allocator) >> 4) * 0x9E3779B97F4A7C15u >> 54;
}
static_assert(kMax == std::size_t{1} << 10, "place() gives ten bits");

constexpr std::uint32_t kSpaces[] = {TTMEM_SPACE_DRAM, TTMEM_SPACE_L1, TTMEM_SPACE_L1_SMALL,
                                     TTMEM_SPACE_TRACE};

std::uint64_t base_of(const void* allocator, std::uint32_t space, std::uint64_t bank_bytes) {
  if (!functions.allocator_base || !functions.allocator_statistics) return 0;
  const int dram = TTMEM_SPACE_DRAM;
  const int l1 = TTMEM_SPACE_L1;
  const auto dram_base = functions.allocator_base(allocator, metal::kMemoryDram);
  const auto l1_base = functions.allocator_base(allocator, metal::kMemoryL1);
  switch (space) {
    case TTMEM_SPACE_DRAM:
      return dram_base;
    case TTMEM_SPACE_L1:
      return l1_base;
    case TTMEM_SPACE_L1_SMALL:
      return bank_bytes ? l1_base + functions.allocator_statistics(allocator, l1).allocatable : 0;
    default:
      return bank_bytes ? dram_base + functions.allocator_statistics(allocator, dram).allocatable
                        : 0;
  }
}

/// The core of each L1 bank; empty if the runtime does not tell.
std::vector<ttmem_core_range> bank_cores(const void* allocator, std::uint32_t banks) {
  std::vector<ttmem_core_range> cores;
  if (!functions.allocator_core_of_bank) return cores;
  for (std::uint32_t bank = 0; bank < banks; ++bank) {
    const auto core = functions.allocator_core_of_bank(allocator, bank);
    const auto x = static_cast<std::uint8_t>(core.x);
    const auto y = static_cast<std::uint8_t>(core.y);
    cores.push_back({x, y, x, y});
  }
  return cores;
}

ttmem_space_info read_space(const void* allocator, std::uint32_t space) {
  const int type = static_cast<int>(space);
  ttmem_space_info info = {};
  info.space = space;
  info.bank_bytes = functions.allocator_statistics(allocator, type).allocatable;
  info.banks = info.bank_bytes ? functions.allocator_banks(allocator, type) : 0;
  info.base = base_of(allocator, space, info.bank_bytes);
  if (functions.allocator_alignment)
    info.alignment = functions.allocator_alignment(allocator, type);
  return info;
}

/// What the runtime says about an allocator. The spaces point to the cores.
struct Geometry {
  std::uint32_t alignment = 32;  ///< of DRAM
  std::vector<ttmem_space_info> spaces;
  std::vector<ttmem_core_range> cores;
};

Geometry read_geometry(const void* allocator) {
  Geometry geometry;
  if (functions.allocator_alignment) {
    geometry.alignment = functions.allocator_alignment(allocator, TTMEM_SPACE_DRAM);
  }
  auto& spaces = geometry.spaces;
  auto& cores = geometry.cores;
  for (const std::uint32_t space : kSpaces) spaces.push_back(read_space(allocator, space));
  quietly([&] { cores = bank_cores(allocator, spaces[1].banks); });
  if (cores.size() == spaces[1].banks && !cores.empty()) {
    spaces[1].bank_cores = cores.data();
    if (spaces[2].banks == spaces[1].banks) spaces[2].bank_cores = cores.data();
  }
  return geometry;
}

ttmem_allocator_t tell_recorder(const Geometry& geometry, ttmem_set_t set) {
  ttmem_allocator_info info = {};
  info.struct_size = sizeof info;
  info.set = set;
  info.space_count = static_cast<std::uint16_t>(geometry.spaces.size());
  info.spaces = geometry.spaces.data();
  return ttmem_allocator_opened(&info);
}

/// A free place for this key; the state lock must be held. Null when all are taken.
Allocator* free_place(const void* allocator) {
  for (std::size_t i = 0; i < kMax; ++i) {
    Allocator& entry = table[(place(allocator) + i) % kMax];
    const void* key = entry.key.load(std::memory_order_relaxed);
    if (!key || key == kGone) return &entry;
  }
  return nullptr;
}

void fill(Allocator& entry, const void* allocator, ttmem_set_t set, std::uint32_t alignment,
          ttmem_allocator_t id) {
  const std::uint64_t seen = highest_id();
  entry.set = set;
  entry.block_alignment = std::bit_ceil(alignment);
  entry.next_id.store(0, std::memory_order_relaxed);
  entry.per_core.store(false, std::memory_order_relaxed);
  entry.released_below.store(seen, std::memory_order_relaxed);
  entry.id.store(id, std::memory_order_release);
  entry.key.store(allocator, std::memory_order_release);
}

}  // namespace

alignas(64) constinit Allocator table[kMax];

[[gnu::hot]] Allocator* find(const void* allocator) {
  for (std::size_t i = 0; i < kMax; ++i) {
    Allocator& entry = table[(place(allocator) + i) % kMax];
    const void* key = entry.key.load(std::memory_order_acquire);
    if (key == allocator) return &entry;
    if (!key) return nullptr;
  }
  return nullptr;
}

Allocator* find_or_open(const void* allocator, const void* device) {
  if (Allocator* known = find(allocator)) return known;
  return open(allocator, chips::set_of(device));
}

Allocator* open(const void* allocator, ttmem_set_t set) {
  if (Allocator* known = find(allocator)) return known;
  if (!set || !functions.allocator_statistics || !functions.allocator_banks) return nullptr;
  const Geometry geometry = read_geometry(allocator);
  const std::lock_guard lock(locks().state);
  if (Allocator* known = find(allocator)) return known;
  Allocator* entry = free_place(allocator);
  const ttmem_allocator_t id = entry ? tell_recorder(geometry, set) : ttmem_allocator_t{0};
  if (!id) return nullptr;
  fill(*entry, allocator, set, geometry.alignment, id);
  return entry;
}

void resized(const void* allocator, std::uint32_t space) {
  const Allocator* entry = find(allocator);
  if (!entry || space >= TTMEM_SPACES || !functions.allocator_statistics) return;
  const ttmem_space_info info = read_space(allocator, space);
  ttmem_allocator_resized(entry->id, &info);
}

void cleared(const void* allocator) {
  Allocator* entry = find(allocator);
  if (!entry) {
    take_inherited(allocator);
    return;
  }
  entry->released_below.store(entry->next_id.load());
  ttmem_allocator_cleared(entry->id);
}

void closed(const void* allocator) {
  if (!find(allocator)) {
    take_inherited(allocator);
    return;
  }
  const std::lock_guard audit(locks().audit);
  ttmem_allocator_t id = 0;
  {
    const std::lock_guard lock(locks().state);
    Allocator* entry = find(allocator);
    if (!entry) return;
    id = entry->id.exchange(0);
    entry->key.store(kGone, std::memory_order_release);
  }
  ttmem_allocator_closed(id);
}

bool take_inherited(const void* allocator) {
  for (auto& one : inherited) {
    const void* known = one.load(std::memory_order_relaxed);
    if (known == allocator) return one.compare_exchange_strong(known, nullptr);
  }
  return false;
}

void forget_recorder() {
  for (std::size_t i = 0; i < kMax; ++i) {
    Allocator& entry = table[i];
    const bool in_use = entry.id.load() != 0;
    // A grandchild inherits what its parent had not read yet as well.
    if (in_use) inherited[i].store(entry.key.load());
    entry.id.store(0);
    entry.key.store(nullptr);
  }
}

extern "C" void ttmem_on_deallocate_buffers(void* allocator) noexcept {
  quietly([=] { cleared(allocator); });
}

extern "C" void ttmem_on_clear_allocator(void* allocator) noexcept {
  quietly([=] { cleared(allocator); });
}

extern "C" void ttmem_on_allocator_destroyed_1(void* allocator) noexcept {
  quietly([=] { closed(allocator); });
}

extern "C" void ttmem_on_allocator_destroyed_2(void* allocator) noexcept {
  quietly([=] { closed(allocator); });
}

/// What is taken then has no buffers: the next audit says by how much.
extern "C" Returned ttmem_hook_override_state(void* allocator, const void* state) {
  const Returned result = call(ttmem_original_override_state, allocator, state);
  quietly([=] {
    if (const Allocator* entry = find(allocator)) audit::look_again(*entry);
  });
  return result;
}

extern "C" Returned ttmem_hook_shrink_allocator(void* allocator, const int* space,
                                                std::uint64_t bytes, std::uint64_t bottom_up) {
  const Returned result = call(ttmem_original_shrink_allocator, allocator, space, bytes, bottom_up);
  quietly([=] { resized(allocator, static_cast<std::uint32_t>(*space)); });
  return result;
}

extern "C" Returned ttmem_hook_reset_allocator(void* allocator, const int* space) {
  const Returned result = call(ttmem_original_reset_allocator, allocator, space);
  quietly([=] { resized(allocator, static_cast<std::uint32_t>(*space)); });
  return result;
}

}  // namespace ttmem::inject::allocators
