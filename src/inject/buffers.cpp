// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "inject/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <tuple>

#include "inject/allocators.hpp"
#include "inject/core_ranges.hpp"
#include "inject/failures.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/metal.hpp"
#include "inject/scopes.hpp"
#include "inject/unnamed_buffers.hpp"

namespace ttmem::inject {
namespace {

using metal::functions;

/// Where releases before 0.81 keep what they have no exported function for.
constexpr std::size_t kOldDevice = 16;
constexpr std::size_t kOldSize = 24;
constexpr std::size_t kOldType = 32;
constexpr std::size_t kOldLayout = 36;

template <typename T>
T at(const void* object, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(object) + offset, sizeof value);
  return value;
}

bool read_old(const void* buffer, BufferFacts& facts) {
  facts.id = reinterpret_cast<std::uintptr_t>(buffer);
  facts.requested = at<std::uint64_t>(buffer, kOldSize);
  facts.space = at<std::uint32_t>(buffer, kOldType);
  facts.layout = at<std::uint32_t>(buffer, kOldLayout);
  const bool plausible =
      functions.buffer_num_pages && functions.buffer_page_size &&
      facts.requested == functions.buffer_num_pages(buffer) * functions.buffer_page_size(buffer);
  return plausible && facts.space < TTMEM_SPACES && facts.layout < TTMEM_LAYOUT_UNKNOWN;
}

/// The grid of a legacy shard specification, which is returned as a copy.
std::vector<metal::CoreRange> shard_grid(const void* buffer) {
  metal::ShardSpecBytes spec = {};
  functions.buffer_shard_spec(&spec, buffer);
  auto* grid = std::launder(reinterpret_cast<std::vector<metal::CoreRange>*>(spec.bytes));
  std::vector<metal::CoreRange> ranges = std::move(*grid);
  grid->~vector();
  return ranges;
}

std::size_t count(const std::vector<metal::CoreRange>& ranges) {
  std::size_t cores = 0;
  for (const auto& range : ranges) {
    cores += (range.end.x - range.start.x + 1) * (range.end.y - range.start.y + 1);
  }
  return cores;
}

/// Fewer cores than the grid has, or no grid at all: the distribution says which.
std::vector<metal::CoreRange> distributed_cores(const void* buffer) {
  if (!functions.buffer_distribution_spec || !functions.core_groups) return {};
  return std::get<1>(functions.core_groups(functions.buffer_distribution_spec(buffer)));
}

std::vector<metal::CoreRange> ranges_with_data(const void* buffer, std::uint32_t layout) {
  const std::size_t expected = functions.buffer_num_cores(buffer).value_or(0);
  if (layout != TTMEM_LAYOUT_ND_SHARDED && functions.buffer_shard_spec) {
    auto grid = shard_grid(buffer);
    if (count(grid) == expected) return grid;
  }
  auto cores = distributed_cores(buffer);
  return count(cores) == expected ? cores : std::vector<metal::CoreRange>{};
}

using metal::functions;

void raise(std::atomic<std::uint64_t>& highest, std::uint64_t value) {
  std::uint64_t known = highest.load(std::memory_order_relaxed);
  while (known < value && !highest.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

std::uint32_t flags_of(std::uint32_t space) {
  std::uint32_t flags = 0;
  if (space == TTMEM_SPACE_TRACE) flags |= TTMEM_FLAG_TRACE;
  if (scopes.binaries_of) flags |= TTMEM_FLAG_KERNEL_BINARIES;
  return flags;
}

[[gnu::cold]] Allocator* open_for(const void* allocator, const void* buffer) {
  Allocator* opened = allocators::find_or_open(allocator, device_of(buffer));
  if (opened && allocators::take_inherited(allocator)) seed(allocator, buffer);
  return opened;
}

Allocator* find_or_open(const void* allocator, const void* buffer) {
  if (Allocator* known = allocators::find(allocator)) return known;
  return open_for(allocator, buffer);
}

void note_binaries(const ttmem_buffer& buffer) {
  scopes.binary_allocator = buffer.allocator;
  scopes.binary_buffer = buffer.id;
  scopes.binary_found = true;
}

}  // namespace

bool ids_are_ordered() { return functions.buffer_unique_id != nullptr; }

[[gnu::hot]] bool read(const void* buffer, BufferFacts& facts) {
  if (!functions.buffer_size_per_bank) return false;
  if (!functions.buffer_size || !functions.buffer_type || !functions.buffer_layout ||
      !functions.buffer_unique_id) {
    return read_old(buffer, facts);
  }
  facts.id = functions.buffer_unique_id(buffer);
  facts.requested = functions.buffer_size(buffer);
  facts.space = static_cast<std::uint32_t>(functions.buffer_type(buffer));
  facts.layout = static_cast<std::uint32_t>(functions.buffer_layout(buffer));
  return facts.space < TTMEM_SPACES;
}

const void* device_of(const void* buffer) {
  return functions.buffer_device ? functions.buffer_device(buffer)
                                 : at<const void*>(buffer, kOldDevice);
}

[[gnu::hot]] bool read_identity(const void* buffer, std::uint64_t& id, std::uint32_t& space) {
  if (functions.buffer_type && functions.buffer_unique_id) {
    id = functions.buffer_unique_id(buffer);
    space = static_cast<std::uint32_t>(functions.buffer_type(buffer));
    return space < TTMEM_SPACES;
  }
  BufferFacts facts;
  if (!read_old(buffer, facts)) return false;
  id = facts.id;
  space = facts.space;
  return true;
}

[[gnu::hot]] ttmem_cores_t cores_of(const void* buffer, const BufferFacts& facts) {
  if (facts.layout == TTMEM_LAYOUT_INTERLEAVED || !functions.buffer_num_cores) return 0;
  const auto ranges = ranges_with_data(buffer, facts.layout);
  if (ranges.empty()) return 0;
  const bool in_dram = facts.space == TTMEM_SPACE_DRAM || facts.space == TTMEM_SPACE_TRACE;
  return in_dram ? intern_banks(ranges) : intern(TTMEM_CORE_TENSIX, ranges);
}

[[gnu::hot]] bool read_per_core(const void* buffer, const BufferFacts& facts,
                                std::uint64_t& address) {
  if (facts.space != TTMEM_SPACE_L1 || facts.layout == TTMEM_LAYOUT_INTERLEAVED) return false;
  if (!functions.is_per_core || !functions.per_core_addresses) return false;
  if (!functions.is_per_core(buffer)) return false;
  std::vector<std::pair<metal::CoreCoord, std::uint64_t>> pairs;
  for (const auto& [core, at_core] : functions.per_core_addresses(buffer)) {
    pairs.emplace_back(core, at_core);
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.y, a.first.x) < std::tie(b.first.y, b.first.x);
  });
  std::vector<std::uint64_t> addresses;
  for (const auto& [core, at_core] : pairs) addresses.push_back(at_core);
  address = ttmem_intern_addresses(addresses.data(), static_cast<std::uint32_t>(addresses.size()));
  return true;
}

namespace {

/// What the runtime says of a buffer; false if that cannot be recorded.
[[gnu::always_inline]] inline bool describe(const void* allocator, const void* buffer,
                                            std::uint64_t address, ttmem_buffer& record) {
  BufferFacts facts;
  if (!read(buffer, facts)) {
    ttmem_anomaly(TTMEM_ANOMALY_BAD_VALUE);
    return false;
  }
  Allocator* entry = find_or_open(allocator, buffer);
  if (!entry) {
    ttmem_anomaly(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR);
    return false;
  }
  record.id = facts.id;
  record.address = address;
  record.requested = facts.requested;
  record.block = entry->block(functions.buffer_size_per_bank(buffer));
  record.allocator = entry->id.load(std::memory_order_relaxed);
  record.space = static_cast<std::uint8_t>(facts.space);
  record.layout = static_cast<std::uint8_t>(facts.layout);
  if (facts.layout != TTMEM_LAYOUT_INTERLEAVED) {
    record.cores = cores_of(buffer, facts);
    record.per_core = read_per_core(buffer, facts, record.address);
    if (record.per_core != 0) [[unlikely]]
      entry->per_core.store(true, std::memory_order_relaxed);
  }
  record.flags = flags_of(facts.space);
  if (ids_are_ordered()) raise(entry->next_id, facts.id + 1);
  return true;
}

}  // namespace

[[gnu::hot]] void record_allocation(const void* allocator, const void* buffer,
                                    std::uint64_t address) {
  ttmem_buffer record = {};
  if (!describe(allocator, buffer, address, record)) return;
  unnamed_buffers::expect();
  recorder.allocated(&record);
  unnamed_buffers::allocated(record);
  if (scopes.binaries_of) note_binaries(record);
}

[[gnu::cold]] unsigned seed(const void* allocator, const void* except) {
  if (!functions.allocator_buffers || !functions.buffer_address) return 0;
  unsigned count = 0;
  for (const void* buffer : functions.allocator_buffers(allocator)) {
    if (buffer == except) continue;
    ttmem_buffer record = {};
    if (!describe(allocator, buffer, functions.buffer_address(buffer), record)) continue;
    // Those of workloads are marked when these are launched.
    record.flags &= ~std::uint32_t{TTMEM_FLAG_KERNEL_BINARIES};
    ttmem_buffer_seeded(&record);
    ++count;
  }
  return count;
}

namespace {

[[gnu::hot]] void record_free(const void* allocator, const void* buffer) {
  Allocator* entry = allocators::find(allocator);
  std::uint64_t id = 0;
  std::uint32_t space = 0;
  if (!entry || !read_identity(buffer, id, space)) return;
  const ttmem_allocator_t on = entry->id.load(std::memory_order_relaxed);
  if (ids_are_ordered() && id < entry->released_below.load(std::memory_order_relaxed)) [[unlikely]]
    return ttmem_buffer_freed_if_known(on, space, id);
  recorder.freed(on, space, id);
}

void report_failure(const void* allocator, const void* buffer, const char* message) {
  BufferFacts facts;
  if (!read(buffer, facts)) return;
  const Allocator* entry = find_or_open(allocator, buffer);
  failures::out_of_memory(message, facts, functions.buffer_size_per_bank(buffer),
                          cores_of(buffer, facts), device_of(buffer), entry);
}

}  // namespace

extern "C" [[gnu::hot]] Returned ttmem_hook_allocate_buffer(void* allocator, void* buffer) {
  Returned result;
  try {
    result = call(ttmem_original_allocate_buffer, allocator, buffer);
  } catch (const std::exception& error) {
    quietly([&] { report_failure(allocator, buffer, error.what()); });
    throw;
  }
  if (recorder.enabled()) quietly([&] { record_allocation(allocator, buffer, result.low); });
  return result;
}

extern "C" [[gnu::hot]] void ttmem_on_deallocate_buffer(void* allocator, void* buffer) noexcept {
  if (recorder.enabled()) quietly([=] { record_free(allocator, buffer); });
}

}  // namespace ttmem::inject
