// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/core_ranges.hpp"

#include <algorithm>
#include <tuple>

namespace ttmem::inject {

namespace {

ttmem_core_range narrow(const metal::CoreRange& range) {
  return {static_cast<std::uint8_t>(range.start.x), static_cast<std::uint8_t>(range.start.y),
          static_cast<std::uint8_t>(range.end.x), static_cast<std::uint8_t>(range.end.y)};
}

std::vector<ttmem_core_range> runs_along_rows(const std::vector<metal::CoreCoord>& sorted) {
  std::vector<ttmem_core_range> runs;
  for (const auto& core : sorted) {
    const auto x = static_cast<std::uint8_t>(core.x);
    const auto y = static_cast<std::uint8_t>(core.y);
    if (!runs.empty() && runs.back().y0 == y && runs.back().x1 + 1 == x) {
      runs.back().x1 = x;
    } else {
      runs.push_back({x, y, x, y});
    }
  }
  return runs;
}

}  // namespace

std::vector<ttmem_core_range> cover(std::vector<metal::CoreCoord> cores) {
  const auto by_row = [](const metal::CoreCoord& a, const metal::CoreCoord& b) {
    return std::tie(a.y, a.x) < std::tie(b.y, b.x);
  };
  std::sort(cores.begin(), cores.end(), by_row);
  std::vector<ttmem_core_range> rectangles;
  for (const auto& run : runs_along_rows(cores)) {
    const auto above = [&run](const ttmem_core_range& other) {
      return other.x0 == run.x0 && other.x1 == run.x1 && other.y1 + 1 == run.y0;
    };
    const auto found = std::find_if(rectangles.begin(), rectangles.end(), above);
    if (found == rectangles.end()) {
      rectangles.push_back(run);
    } else {
      found->y1 = run.y1;
    }
  }
  return rectangles;
}

ttmem_cores_t intern(std::uint32_t core_type, std::span<const metal::CoreRange> ranges) {
  constexpr std::size_t kFew = 8;
  ttmem_core_range few[kFew];
  if (ranges.size() <= kFew) {
    std::transform(ranges.begin(), ranges.end(), few, narrow);
    return ttmem_intern_cores(core_type, few, static_cast<std::uint32_t>(ranges.size()));
  }
  std::vector<ttmem_core_range> many(ranges.size());
  std::transform(ranges.begin(), ranges.end(), many.begin(), narrow);
  return ttmem_intern_cores(core_type, many.data(), static_cast<std::uint32_t>(many.size()));
}

ttmem_cores_t intern(std::uint32_t core_type, const metal::OrderedCores& cores) {
  const auto ranges = cover({cores.begin(), cores.end()});
  return ttmem_intern_cores(core_type, ranges.data(), static_cast<std::uint32_t>(ranges.size()));
}

ttmem_cores_t intern_banks(std::span<const metal::CoreRange> ranges) {
  std::vector<std::uint16_t> banks;
  for (const auto& range : ranges) {
    for (auto x = range.start.x; x <= range.end.x; ++x)
      banks.push_back(static_cast<std::uint16_t>(x));
  }
  return ttmem_intern_banks(banks.data(), static_cast<std::uint32_t>(banks.size()));
}

}  // namespace ttmem::inject
