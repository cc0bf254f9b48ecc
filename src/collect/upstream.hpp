// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The region that a stock TT-Metal keeps for each chip, /dev/shm/tt_device_<id>_memory, layouts 2,
// 3 and 4. It is only ever read. Its totals go wrong in known ways (rows of the dead, lost updates,
// wrap-around), so rows of living processes are all that is used:
//
//   0 version | 32 id of the chip | 856 + 120 i: row of a process | 8536 layout 4: ready or not
//   row: 0 pid | 8 dram, l1, l1_small, trace, cb | 48 last update (ns) | 56 name
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "collect/host_root.hpp"

namespace ttmem::collect {

inline constexpr std::size_t kUpstreamBytes = 8576;
inline constexpr std::size_t kUpstreamRows = 64;

struct UpstreamRow {
  std::int32_t pid = 0;
  std::uint64_t updated_ns = 0;
  std::string name;  // as the process was called when it took the row
  // Requested bytes; a value that has wrapped below zero is not known.
  std::optional<std::uint64_t> dram, l1, l1_small, trace;
  std::optional<std::uint64_t> cb;  // layouts 2, 3: a high-water mark; 4: resident
};

struct UpstreamRegion {
  std::uint64_t unique_id = 0;
  std::uint32_t layout = 0;
  std::vector<UpstreamRow> rows;
};

// "tt_device_<1 to 20 digits>_memory": the number, if it fits.
std::optional<std::uint64_t> upstream_id(std::string_view file_name);

// The bytes of a region, of which nothing is believed. `id` is the number in its name.
Result<UpstreamRegion> parse_upstream(std::span<const std::byte> bytes, std::uint64_t id);

struct UpstreamRegions {
  std::vector<UpstreamRegion> regions;
  std::vector<std::string> problems;  // regions that are there and say nothing, with the reason
};
UpstreamRegions read_upstream(const HostRoot& root);

}  // namespace ttmem::collect
