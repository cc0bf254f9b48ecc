// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/printable.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "view/characters.hpp"

namespace ttmem::view {
namespace {

constexpr std::uint32_t kFirstBeyondByte = 0x100;

std::string escaped(const Character& character) {
  const auto code = static_cast<std::uint32_t>(character.code);
  return code < kFirstBeyondByte ? fmt::format("\\x{:02x}", code)
                                 : fmt::format("\\u{{{:x}}}", code);
}

std::size_t columns(const Character& character) {
  return static_cast<std::size_t>(character_columns(character.code));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character character = next_character(text);
    if (!character.valid || is_unsafe(character.code)) {
      safe += escaped(character);
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
    width += columns(character);
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
    used += columns(character);
    if (used + 1 > width) break;
    kept += text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
  }
  return width == 0 ? std::string() : kept + "…";
}

std::string cut_front(std::string_view text, std::size_t width) {
  std::size_t used = display_width(text);
  if (used <= width) return std::string(text);
  if (width == 0) return {};
  while (!text.empty() && used + 1 > width) {
    const Character character = next_character(text);
    used -= columns(character);
    text.remove_prefix(character.bytes);
  }
  return "…" + std::string(text);
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
