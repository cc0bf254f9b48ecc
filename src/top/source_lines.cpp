// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/source_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file_descriptor.hpp"

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
    lines.push_back(text.substr(begin, std::min(end - begin, kMostColumns)));
    at = end + 1;
  }
  return lines;
}

}  // namespace

const SourceLines::File& SourceLines::file(const std::string& path) {
  static const File kNone;
  const FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > kMostBytes) {
    return kNone;
  }
  const std::int64_t changed =
      std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  if (files_.size() >= kMostFiles && !files_.contains(path)) files_.clear();
  File& known = files_[path];
  if (known.changed != changed) known = {changed, read_lines(opened.get(), status.st_size)};
  return known;
}

std::string SourceLines::text_of(const std::string& step) {
  const std::size_t space = step.rfind(' ');
  const std::size_t colon = step.rfind(':', space);
  if (!step.starts_with('/') || colon == std::string::npos) return "";
  std::size_t line = 0;
  const char* end = step.data() + std::min(space, step.size());
  const auto [after, problem] = std::from_chars(step.data() + colon + 1, end, line);
  if (problem != std::errc() || after != end || line == 0) return "";
  const File& source = file(step.substr(0, colon));
  return line <= source.lines.size() ? source.lines[line - 1] : "";
}

}  // namespace ttmem::top
