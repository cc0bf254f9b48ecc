// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/core_set.hpp"

#include <cstring>

namespace ttmem::client {

void CoreSetBuilder::clear() {
  std::memset(rows_, 0, sizeof rows_);
  std::memset(used_, 0, sizeof used_);
}

void CoreSetBuilder::add(const ttmem_core_range& range) {
  for (std::uint32_t y = range.y0; y <= range.y1; ++y) {
    used_[y] = used_[y] || range.x0 <= range.x1;
    for (std::uint32_t x = range.x0; x <= range.x1; ++x) rows_[y][x / 64] |= 1ull << x % 64;
  }
}

// Takes the run [x0, x1] out of row y if the row has exactly this run there.
bool CoreSetBuilder::take_row(std::uint32_t x0, std::uint32_t x1, std::uint32_t y) {
  for (std::uint32_t x = x0; x <= x1; ++x) {
    if (!has(x, y)) return false;
  }
  if ((x0 > 0 && has(x0 - 1, y)) || (x1 < 255 && has(x1 + 1, y))) return false;
  for (std::uint32_t x = x0; x <= x1; ++x) rows_[y][x / 64] &= ~(1ull << x % 64);
  return true;
}

// Row by row: each run of cores grows downwards while the rows below have exactly the same run.
std::uint32_t CoreSetBuilder::rectangles(ttmem_core_range* out, std::uint32_t capacity) {
  std::uint32_t count = 0;
  for (std::uint32_t y = 0; y < 256; ++y) {
    if (!used_[y]) continue;
    for (std::uint32_t x = 0; x < 256; ++x) {
      if (!has(x, y)) continue;
      std::uint32_t x1 = x;
      while (x1 < 255 && has(x1 + 1, y)) ++x1;
      take_row(x, x1, y);
      std::uint32_t y1 = y;
      while (y1 < 255 && used_[y1 + 1] && take_row(x, x1, y1 + 1)) ++y1;
      if (count == capacity) return 0;
      out[count++] = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y),
                      static_cast<std::uint8_t>(x1), static_cast<std::uint8_t>(y1)};
      x = x1;
    }
  }
  return count;
}

}  // namespace ttmem::client
