// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/printable.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace ttmem::view {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t bytes;
  bool valid;
};

std::size_t sequence_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

bool is_overlong_or_beyond(std::uint32_t code, std::size_t bytes) {
  if (bytes == 3) return code < 0x800 || (code >= 0xD800 && code <= 0xDFFF);
  return bytes == 4 && (code < 0x10000 || code > 0x10FFFF);
}

Character next_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const Character invalid{first, 1, false};
  const std::size_t bytes = sequence_bytes(first);
  if (bytes == 1) return {first, 1, true};
  if (bytes == 0 || bytes > text.size()) return invalid;
  std::uint32_t code = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80u) return invalid;
    code = (code << 6) | (next & 0x3Fu);
  }
  if (is_overlong_or_beyond(code, bytes)) return invalid;
  return {code, bytes, true};
}

struct Interval {
  std::uint32_t first, last;
};

template <std::size_t N>
bool within(const std::array<Interval, N>& intervals, std::uint32_t code) {
  for (const Interval& interval : intervals) {
    if (code >= interval.first && code <= interval.last) return true;
  }
  return false;
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// Characters that change the direction or vanish: a name could pretend to be another one.
constexpr std::array<Interval, 6> kDeceptive = {{{0xAD, 0xAD},
                                                 {0x200B, 0x200F},
                                                 {0x2028, 0x202E},
                                                 {0x2060, 0x206F},
                                                 {0xFEFF, 0xFEFF},
                                                 {0xE0000, 0xE007F}}};

constexpr std::array<Interval, 6> kCombining = {{{0x300, 0x36F},
                                                 {0x483, 0x489},
                                                 {0x1AB0, 0x1AFF},
                                                 {0x1DC0, 0x1DFF},
                                                 {0x20D0, 0x20FF},
                                                 {0xFE00, 0xFE0F}}};

constexpr std::array<Interval, 11> kWide = {{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0x33FF},
                                             {0x3400, 0x4DBF},
                                             {0x4E00, 0x9FFF},
                                             {0xA000, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1FAFF}}};

std::size_t character_width(std::uint32_t code) {
  if (within(kCombining, code)) return 0;
  if (within(kWide, code) || (code >= 0x20000 && code <= 0x3FFFD)) return 2;
  return 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character character = next_character(text);
    if (!character.valid || is_control(character.code)) {
      safe += fmt::format("\\x{:02x}", character.code);
    } else if (within(kDeceptive, character.code)) {
      safe += fmt::format("\\u{{{:x}}}", character.code);
    } else {
      safe += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return safe;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += character_width(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string kept;
  std::size_t used = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    used += character_width(character.code);
    if (used + 1 > width) break;
    kept += text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
  }
  return width == 0 ? std::string() : kept + "…";
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

}  // namespace ttmem::view
