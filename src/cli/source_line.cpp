// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/source_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/foreign_file.hpp"

namespace ttmem::cli {
namespace {

constexpr off_t kMostBytes = 4 << 20;

std::optional<std::string> read_all(const std::string& path) {
  const ForeignFile file = open_foreign(AT_FDCWD, path.c_str());
  if (!file.descriptor || file.facts.st_size > kMostBytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(file.facts.st_size), '\0');
  const ssize_t bytes = ::pread(file.descriptor.get(), text.data(), text.size(), 0);
  if (bytes < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace

std::optional<std::string> source_line(const std::string& place) {
  const std::size_t file_end = place.find(".py:");
  if (file_end == std::string::npos || place.front() != '/') return std::nullopt;
  std::size_t number = 0;
  const char* digits = place.data() + file_end + 4;
  std::from_chars(digits, place.data() + place.size(), number);
  const auto text = read_all(place.substr(0, file_end + 3));
  if (!text || number == 0) return std::nullopt;
  std::size_t at = 0;
  while (--number > 0) {
    at = text->find('\n', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  const std::string line = text->substr(at, text->find('\n', at) - at);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return std::nullopt;
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace ttmem::cli
