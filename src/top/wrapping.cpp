// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/wrapping.hpp"

#include <algorithm>

#include "view/characters.hpp"

namespace ttmem::top {
namespace {

// How many bytes from the front fit; at least one character.
std::size_t fitting_bytes(std::string_view text, int columns) {
  std::size_t bytes = 0;
  int used = 0;
  while (bytes < text.size()) {
    const view::Character character = view::next_character(text.substr(bytes));
    used += character.valid ? view::character_columns(character.code) : 1;
    if (used > columns && bytes > 0) break;
    bytes += character.bytes;
  }
  return bytes;
}

}  // namespace

std::vector<std::string_view> wrapped(std::string_view text, int columns, std::size_t most) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < most) {
    const std::size_t whole = std::min(text.find('\n'), text.size());
    std::size_t end = fitting_bytes(text.substr(0, whole), columns);
    const std::size_t space = text.substr(0, end + 1).rfind(' ');
    if (end < whole && space != std::string_view::npos && space > 0) end = space;
    lines.push_back(text.substr(0, end));
    const bool skip = end < text.size() && (text[end] == ' ' || text[end] == '\n');
    text.remove_prefix(end + (skip ? 1 : 0));
  }
  return lines;
}

}  // namespace ttmem::top
