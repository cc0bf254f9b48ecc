// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/segment_writer.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

// Sets of cores in their one canonical form: disjoint rectangles, sorted, so that equal sets are
// equal bytes and their cores can be counted by adding.
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

// The interning calls of ttmem.h: each puts what it gets into its one canonical form first.
class Interning {
 public:
  bool open(SegmentWriter& writer);
  void give_back() { scratch_.give_back(); }

  ttmem_string_t string(const char* text, std::size_t length);
  ttmem_string_t line(const char* file, std::uint32_t number, const char* function);
  ttmem_cores_t cores(std::uint32_t core_type, const ttmem_core_range* ranges, std::uint32_t count);
  ttmem_cores_t core_count(std::uint32_t core_type, std::uint32_t count);
  ttmem_cores_t banks(const std::uint16_t* banks, std::uint32_t count);
  std::uint32_t addresses(const std::uint64_t* addresses, std::uint32_t count);

 private:
  std::uint32_t intern(segment::BlobKind kind, const void* bytes, std::size_t size);

  struct Scratch {
    CoreSetBuilder builder;
    std::uint8_t blob[segment::kMaxBlobBytes];
  };

  SegmentWriter* writer_ = nullptr;
  PrivateArray<Scratch> scratch_;  // one; too large for a host's stack
};

}  // namespace ttmem::client
