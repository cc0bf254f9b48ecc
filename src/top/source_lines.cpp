// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/source_lines.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/foreign_file.hpp"

namespace ttmem::top {
namespace {

constexpr off_t kMostBytes = 1 << 20;
constexpr std::size_t kMostFiles = 64;
constexpr std::size_t kMostColumns = 200;

std::vector<std::string> read_lines(int descriptor, off_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t begin = std::min(text.find_first_not_of(" \t", at), end);
    std::string line = text.substr(begin, std::min(end - begin, kMostColumns));
    line.resize(line.find_last_not_of(" \t\r") + 1);
    lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string SourceLines::this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

const SourceLines::File& SourceLines::file(const std::string& path) {
  static const File kNone;
  const ForeignFile opened = open_foreign(AT_FDCWD, path.c_str());
  if (!opened.descriptor || opened.facts.st_size > kMostBytes) return kNone;
  const timespec& written = opened.facts.st_mtim;
  const auto changed = static_cast<ledger::TimeNs>(written.tv_sec) * 1'000'000'000 +
                       static_cast<ledger::TimeNs>(written.tv_nsec);
  if (files_.size() >= kMostFiles && !files_.contains(path)) files_.clear();
  File& known = files_[path];
  if (known.changed != changed) {
    known = {changed, read_lines(opened.descriptor.get(), opened.facts.st_size)};
  }
  return known;
}

std::string SourceLines::text_of(const std::string& step, const Run& run) {
  if (run.host != host_) return "";
  const std::size_t space = step.rfind(' ');
  const std::size_t colon = step.rfind(':', space);
  if (!step.starts_with('/') || colon == std::string::npos) return "";
  std::size_t line = 0;
  const char* end = step.data() + std::min(space, step.size());
  const auto [after, problem] = std::from_chars(step.data() + colon + 1, end, line);
  if (problem != std::errc() || after != end || line == 0) return "";
  const std::string path = step.substr(0, colon);
  if (!path.ends_with(".py")) return "";
  const File& source = file(path);
  if (source.changed > run.since) return "";
  return line <= source.lines.size() ? source.lines[line - 1] : "";
}

}  // namespace ttmem::top
