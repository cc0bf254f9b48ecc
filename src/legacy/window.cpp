// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/window.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace ttmem::legacy {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string Window::show(std::string_view text, std::size_t rows) {
  const std::vector<std::string_view> lines = lines_of(text);
  // Below that there is no room for a line above those that stay.
  const bool fits = rows == 0 || lines.size() <= rows || rows <= kFooterLines;
  if (fits) {
    to_top();
    while (text.ends_with('\n')) text.remove_suffix(1);
    return std::string(text);
  }
  const std::size_t body = lines.size() - kFooterLines;
  page_ = rows - kFooterLines;
  wanted_ = std::clamp<std::ptrdiff_t>(wanted_, 0, static_cast<std::ptrdiff_t>(body - page_));
  const auto first = static_cast<std::size_t>(wanted_);
  std::string shown;
  for (const std::string_view line : std::span(lines).subspan(first, page_)) {
    shown.append(line).append("\n");
  }
  // Instead of the empty line there.
  shown += fmt::format("── lines {} to {} of {}: arrows and page keys move", first + 1,
                       first + page_, body);
  for (const std::string_view line : std::span(lines).last(kFooterLines - 1)) {
    shown.append("\n").append(line);
  }
  return shown;
}

}  // namespace ttmem::legacy
