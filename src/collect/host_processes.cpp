// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/host_processes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "collect/procfs.hpp"

namespace ttmem::collect {
namespace {

constexpr std::size_t kMostProcesses = 65536;
constexpr std::size_t kMostText = 64 * 1024;
constexpr std::size_t kContainerDigits = 64;

bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::optional<std::int32_t> pid_of(std::string_view text) {
  const auto value = decimal(text);
  if (!value || *value > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

// The last number of the line "NSpid:", if there are several.
std::optional<std::int32_t> inner_pid(const std::string& status) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    std::vector<std::string> pids;
    for (std::string pid; numbers >> pid;) pids.push_back(pid);
    return pids.size() > 1 ? pid_of(pids.back()) : std::nullopt;
  }
  return std::nullopt;
}

std::uint64_t namespace_of(const HostRoot& root, std::int32_t pid) {
  const auto link = root.link_name(fmt::format("/proc/{}/ns/pid", pid));
  if (!link) return 0;
  const std::size_t bracket = link->find('[');
  if (bracket == std::string::npos || link->back() != ']') return 0;
  return decimal(std::string_view(*link).substr(bracket + 1, link->size() - bracket - 2))
      .value_or(0);
}

void keep_each_once(std::vector<std::int32_t>& pids) {
  std::ranges::sort(pids);
  const auto rest = std::ranges::unique(pids);
  pids.erase(rest.begin(), rest.end());
}

}  // namespace

std::string container_of_cgroup(std::string_view text) {
  std::string found;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_hexadecimal(text[end])) ++end;
    if (end - at == kContainerDigits) found = std::string(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

std::optional<HostProcess> HostProcesses::find(std::int32_t pid) const {
  const std::string directory = fmt::format("/proc/{}", pid);
  const auto stat_text = root_.read(directory + "/stat");
  const auto facts = stat_text ? parse_stat(*stat_text) : std::nullopt;
  if (!facts || facts->gone()) return std::nullopt;
  HostProcess process;
  process.pid = pid;
  process.start_ticks = facts->start_ticks;
  process.name = facts->comm;
  struct stat owner{};
  if (::stat(root_.full(directory).c_str(), &owner) == 0) process.uid = owner.st_uid;
  process.command = root_.read(directory + "/cmdline", 184).value_or("");
  while (!process.command.empty() && process.command.back() == '\0') process.command.pop_back();
  std::ranges::replace(process.command, '\0', ' ');
  process.cgroup = root_.read(directory + "/cgroup").value_or("");
  process.container = container_of_cgroup(process.cgroup);
  return process;
}

std::optional<bool> HostProcesses::is_user(std::int32_t pid, std::uint32_t uid) const {
  const auto status = root_.read(fmt::format("/proc/{}/status", pid));
  return status ? status_has_uid(*status, uid) : std::nullopt;
}

std::optional<double> HostProcesses::started_at(std::uint64_t start_ticks) const {
  const auto text = root_.read("/proc/stat", kMostText);
  if (!text) return std::nullopt;
  const std::size_t at = text->find("btime ");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t end = text->find('\n', at);
  const auto booted = decimal(std::string_view(*text).substr(at + 6, end - at - 6));
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (!booted || ticks <= 0) return std::nullopt;
  return static_cast<double>(*booted) +
         static_cast<double>(start_ticks) / static_cast<double>(ticks);
}

DeviceUsers HostProcesses::users(std::uint32_t node) const {
  const auto text = root_.read(fmt::format("/proc/driver/tenstorrent/{}/pids", node), kMostText);
  if (!text) return users_by_links(node);
  DeviceUsers users;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line) && users.pids.size() < kMostProcesses;) {
    const auto pid = pid_of(line);
    if (pid == 0) users.strangers = true;
    if (pid && *pid > 0) users.pids.push_back(*pid);
  }
  keep_each_once(users.pids);
  return users;
}

DeviceUsers HostProcesses::users_by_links(std::uint32_t node) const {
  DeviceUsers users;
  const std::string wanted = fmt::format("/dev/tenstorrent/{}", node);
  for (const std::string& name : root_.list("/proc", kMostProcesses)) {
    const auto pid = pid_of(name);
    if (!pid) continue;
    const std::string descriptors = fmt::format("/proc/{}/fd", *pid);
    for (const std::string& each : root_.list(descriptors, 4096)) {
      char target[64] = {};
      const std::string link = root_.full(descriptors + "/" + each);
      if (::readlink(link.c_str(), target, sizeof target - 1) <= 0 || wanted != target) continue;
      users.pids.push_back(*pid);
      break;
    }
  }
  keep_each_once(users.pids);
  return users;
}

std::optional<std::int32_t> HostProcesses::pid_here(std::uint64_t name_space, std::int32_t pid,
                                                    std::uint64_t start_ticks) {
  const std::pair key(name_space, pid);
  if (const auto known = pids_here_.find(key); known != pids_here_.end()) {
    const auto process = find(known->second);
    if (process && process->start_ticks == start_ticks) return known->second;
    pids_here_.erase(known);
  }
  const auto found = search(name_space, pid, start_ticks);
  if (found) pids_here_[key] = *found;
  return found;
}

std::vector<std::int32_t> HostProcesses::inner(std::int32_t pid) {
  if (!inside_) {
    inside_.emplace();
    for (const std::string& name : root_.list("/proc", kMostProcesses)) {
      const auto here = pid_of(name);
      const auto status = here ? root_.read("/proc/" + name + "/status") : std::nullopt;
      const auto there = status ? inner_pid(*status) : std::nullopt;
      if (there) inside_->emplace(*there, *here);
    }
  }
  std::vector<std::int32_t> found;
  const auto [first, last] = inside_->equal_range(pid);
  for (auto each = first; each != last; ++each) found.push_back(each->second);
  return found;
}

std::optional<std::int32_t> HostProcesses::search(std::uint64_t name_space, std::int32_t pid,
                                                  std::uint64_t start_ticks) {
  for (const std::int32_t here : inner(pid)) {
    const std::uint64_t its = namespace_of(root_, here);
    if (its != 0 && its != name_space) continue;
    const auto process = find(here);
    if (process && process->start_ticks == start_ticks) return here;
  }
  return std::nullopt;
}

}  // namespace ttmem::collect
