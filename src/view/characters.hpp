// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Characters as a terminal sees them: decoded from UTF-8 that may be broken, and measured in
// columns, whatever the locale of the process.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttmem::view {

struct Character {
  char32_t code = 0;      // the byte itself if not valid
  std::size_t bytes = 1;  // how many bytes of the text it takes
  bool valid = false;
};

// The first character of a text that is not empty.
Character next_character(std::string_view text);

// 2 for wide characters, 0 for those that combine with the one before, else 1.
int character_columns(char32_t code);

// Control characters, and those that are invisible or turn the direction of the text: a name that
// has them could pretend to be another one, or move the cursor.
bool is_unsafe(char32_t code);

void append_utf8(std::string& text, char32_t code);

}  // namespace ttmem::view
