// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/buffer_facts.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

#include "inject/core_ranges.hpp"
#include "inject/metal.hpp"

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

}  // namespace ttmem::inject
