// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/characters.hpp"

#include <cstdint>

namespace ttmem::view {
namespace {

std::size_t sequence_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

bool is_overlong_or_beyond(char32_t code, std::size_t bytes) {
  if (bytes == 3) return code < 0x800 || (code >= 0xD800 && code <= 0xDFFF);
  return bytes == 4 && (code < 0x10000 || code > 0x10FFFF);
}

}  // namespace

Character next_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const Character invalid{first, 1, false};
  const std::size_t bytes = sequence_bytes(first);
  if (bytes == 1) return {first, 1, true};
  if (bytes == 0 || bytes > text.size()) return invalid;
  char32_t code = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80u) return invalid;
    code = (code << 6) | (next & 0x3Fu);
  }
  if (is_overlong_or_beyond(code, bytes)) return invalid;
  return {code, bytes, true};
}

bool is_unsafe(char32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  return code == 0xAD || code == 0x61C || code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

void append_utf8(std::string& text, char32_t code) {
  const auto append = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return append(code);
  if (code < 0x800) {
    append(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    append(0xE0 | (code >> 12));
    append(0x80 | ((code >> 6) & 0x3F));
  } else {
    append(0xF0 | (code >> 18));
    append(0x80 | ((code >> 12) & 0x3F));
    append(0x80 | ((code >> 6) & 0x3F));
  }
  append(0x80 | (code & 0x3F));
}

}  // namespace ttmem::view
