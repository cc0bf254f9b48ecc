// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/markdown.hpp"

#include <algorithm>

#include "view/printable.hpp"

namespace ttmem::view {

std::string markdown_text(std::string_view text) {
  std::string all;
  for (const char c : printable(text)) {
    if (std::string_view("|`*_<>[]\\").find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

std::string markdown_block(std::string_view lines) {
  std::size_t longest = 2, run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + std::string(lines) + (lines.ends_with('\n') ? "" : "\n") + fence + "\n";
}

}  // namespace ttmem::view
