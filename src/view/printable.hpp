// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Text of strangers on our terminal. Names of processes, programs and operations come from files
// that others write: a control character in them could move the cursor or rewrite a line. And a
// column is as wide as a terminal shows it, not as many bytes as it has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttmem::view {

// The same text with control characters, direction marks and invalid UTF-8 written as \xNN or
// \u{NNNN}. What it returns is one line of valid UTF-8.
std::string printable(std::string_view text);

// Columns that the text takes on a terminal: 2 for wide characters, 0 for combining ones.
std::size_t display_width(std::string_view text);

// At most `width` columns; what was cut shows as "…".
std::string cut(std::string_view text, std::size_t width);
std::string cut_front(std::string_view text, std::size_t width);  // the end is kept

std::string pad_right(std::string_view text, std::size_t width);  // text, then spaces
std::string pad_left(std::string_view text, std::size_t width);   // spaces, then text

}  // namespace ttmem::view
