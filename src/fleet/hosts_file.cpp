// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/hosts_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

constexpr std::size_t kMostFileBytes = 1u << 20;

std::string_view without_comment(std::string_view line) {
  line = line.substr(0, line.find('#'));
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
    line.remove_suffix(1);
  }
  return line;
}

bool is_name(std::string_view name) {
  return !name.empty() && !name.starts_with('-') && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_';
  });
}

// What ssh takes for a host, and nothing that a shell or ssh could take for something else.
bool is_ssh_name(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == name.npos ? is_name(name)
                         : is_name(name.substr(0, at)) && is_name(name.substr(at + 1));
}

Result<HostEntry> parse_entry(const std::string& word) {
  HostEntry entry{word, std::nullopt};
  if (word.starts_with('-')) {
    return Error{ErrorCode::kWrongKind, "a name of a host does not begin with '-'"};
  }
  if (word.find(':') == std::string::npos) {
    if (is_ssh_name(word)) return entry;
    return Error{ErrorCode::kWrongKind,
                 fmt::format("{} is no name of a host", view::printable(word))};
  }
  const auto url = parse_url(word, kDaemonPort);
  if (!url) return url.error();
  entry.url = *url;
  return entry;
}

}  // namespace

Result<std::vector<HostEntry>> parse_hosts(std::string_view text) {
  std::vector<HostEntry> hosts;
  std::set<std::string> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string word(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    auto entry = parse_entry(word);
    if (!entry) {
      return Error{ErrorCode::kWrongKind,
                   fmt::format("line {}: {}", number, entry.error().message)};
    }
    if (!seen.insert(word).second) {
      return Error{ErrorCode::kWrongKind,
                   fmt::format("line {}: {} stands there twice", number, view::printable(word))};
    }
    if (hosts.size() == kMostHosts) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("more than {} hosts: let Prometheus or VictoriaMetrics scrape them, "
                               "and ask that with --from",
                               kMostHosts)};
    }
    hosts.push_back(std::move(*entry));
  }
  if (hosts.empty()) return Error{ErrorCode::kNotFound, "no host stands in it"};
  return hosts;
}

Result<std::vector<HostEntry>> read_hosts(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path);
  std::istream& stream = path == "-" ? std::cin : file;
  std::string text;
  for (char c; text.size() <= kMostFileBytes && stream.get(c);) text += c;
  if (path != "-" && !file.is_open()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: {}", view::printable(path), std::strerror(errno))};
  }
  if (text.size() > kMostFileBytes) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{} is no list of hosts: it is too large", view::printable(path))};
  }
  auto hosts = parse_hosts(text);
  if (hosts) return hosts;
  return Error{hosts.error().code,
               fmt::format("{}: {}", view::printable(path), hosts.error().message)};
}

}  // namespace ttmem::fleet
