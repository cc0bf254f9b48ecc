// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which line an instruction belongs to, out of the table of its code object, in the three formats
// that CPython has had. The table is whatever is found: every byte is checked to be there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "inject/frames/layout.hpp"

namespace ttmem::inject::frames {

/// The bytes of a table, one after the other, read ahead in pieces.
template <class Memory>
class TableBytes {
 public:
  TableBytes(const Memory& memory, Address start, std::uint64_t size)
      : memory_(memory), at_(start), left_(size) {}

  bool has_next() const { return next_ < loaded_ || left_ > 0; }
  /// The next byte, which stays; nothing at the end or if it cannot be read.
  std::optional<std::uint8_t> peek() {
    if (next_ == loaded_ && !load()) return std::nullopt;
    return piece_[next_];
  }
  std::optional<std::uint8_t> take() {
    const auto byte = peek();
    if (byte) ++next_;
    return byte;
  }

 private:
  bool load() {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, sizeof piece_));
    if (count == 0) return false;
    const std::uint8_t* bytes = memory_.bytes(at_, count);
    if (!bytes) return false;
    std::copy_n(bytes, count, piece_);
    at_ += count;
    left_ -= count;
    next_ = 0;
    loaded_ = count;
    return true;
  }

  const Memory& memory_;
  Address at_;
  std::uint64_t left_;
  std::size_t next_ = 0;
  std::size_t loaded_ = 0;
  std::uint8_t piece_[128];
};

namespace line_table {

/// 3.8, 3.9: pairs of steps in bytes and, signed, in lines.
template <class Bytes>
std::optional<std::int64_t> by_increments(Bytes& table, std::int64_t line, std::int64_t wanted) {
  for (std::int64_t at = 0; table.has_next();) {
    const auto bytes = table.take();
    const auto lines = table.take();
    if (!bytes || !lines) return std::nullopt;
    at += *bytes;
    if (at > wanted) break;
    line += static_cast<std::int8_t>(*lines);
  }
  return line;
}

/// 3.10: ranges of so many bytes, so many lines on; -128 = of no line.
template <class Bytes>
std::optional<std::int64_t> by_ranges(Bytes& table, std::int64_t line, std::int64_t wanted) {
  constexpr std::int8_t kOfNoLine = -128;
  for (std::int64_t end = 0;;) {
    const auto bytes = table.take();
    const auto lines = table.take();
    if (!bytes || !lines) return std::nullopt;
    const auto step = static_cast<std::int8_t>(*lines);
    if (step != kOfNoLine) line += step;
    end += *bytes;
    if (end > wanted) return step == kOfNoLine ? std::nullopt : std::optional(line);
  }
}

template <class Bytes>
std::optional<std::int64_t> signed_number(Bytes& table) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 36; shift += 6) {
    const auto byte = table.take();
    if (!byte) return std::nullopt;
    number |= std::uint64_t{*byte & 0x3Fu} << shift;
    if ((*byte & 0x40) == 0) {
      const auto half = static_cast<std::int64_t>(number >> 1);
      return (number & 1) != 0 ? -half : half;
    }
  }
  return std::nullopt;
}

/// Since 3.11: an entry starts with a byte whose highest bit is set; four bits of it say what
/// follows, three for how many instructions (of 2 bytes).
template <class Bytes>
std::optional<std::int64_t> by_locations(Bytes& table, std::int64_t line, std::int64_t wanted) {
  constexpr unsigned kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kOfNoLine = 15;
  for (std::int64_t end = 0;;) {
    const auto head = table.take();
    if (!head || (*head & 0x80) == 0) return std::nullopt;
    const unsigned kind = (*head >> 3) & 15u;
    if (kind == kNoColumns || kind == kLong) {
      const auto step = signed_number(table);
      if (!step) return std::nullopt;
      line += *step;
    } else if (kind >= kOneLine0 && kind <= kOneLine2) {
      line += kind - kOneLine0;
    }
    end += ((*head & 7) + 1) * 2;
    if (end > wanted) return kind == kOfNoLine ? std::nullopt : std::optional(line);
    for (auto byte = table.peek(); byte && (*byte & 0x80) == 0; byte = table.peek()) table.take();
  }
}

}  // namespace line_table

/// The line of the instruction at this byte (negative: not begun). Nothing if it has none.
template <class Bytes>
std::optional<std::int64_t> line_at(LineFormat format, Bytes& table, std::int64_t first_line,
                                    std::int64_t instruction) {
  if (instruction < 0) return first_line;
  switch (format) {
    case LineFormat::kIncrements:
      return line_table::by_increments(table, first_line, instruction);
    case LineFormat::kRanges:
      return line_table::by_ranges(table, first_line, instruction);
    case LineFormat::kLocations:
      return line_table::by_locations(table, first_line, instruction);
  }
  return std::nullopt;
}

}  // namespace ttmem::inject::frames
