// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Sets of cores in their one canonical form: disjoint rectangles, sorted, so that equal sets are
// equal bytes and their cores can be counted by adding.
#pragma once

#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::client {

class CoreSetBuilder {
 public:
  void clear();
  // Ends in any order; clipped to nothing if x0 > x1 or y0 > y1.
  void add(const ttmem_core_range& range);
  // Writes at most `capacity` rectangles; returns how many there are, or 0 if they do not fit.
  std::uint32_t rectangles(ttmem_core_range* out, std::uint32_t capacity);

 private:
  bool take_row(std::uint32_t x0, std::uint32_t x1, std::uint32_t y);
  bool has(std::uint32_t x, std::uint32_t y) const { return (rows_[y][x / 64] >> x % 64 & 1) != 0; }

  std::uint64_t rows_[256][4];
  bool used_[256];
};

}  // namespace ttmem::client
