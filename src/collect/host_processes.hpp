// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Processes as the host knows them, without any data of theirs: who has a device open, how a
// process is called and whose it is, in which container it runs, and which pid a process of another
// pid namespace has here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/host_root.hpp"

namespace ttmem::collect {

// What was found out about processes is kept for the next look, of so many: then all is found out
// anew.
inline constexpr std::size_t kMostRemembered = 4096;

struct HostProcess {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint32_t uid = 0;
  std::string name, command, container;  // container "" = none, or not known
  std::string cgroup;                    // as /proc tells it
};

struct DeviceUsers {
  std::vector<std::int32_t> pids;  // ascending, each once
  bool strangers = false;          // somebody has it open whom this pid namespace does not show
};

// "…/docker/<64 digits>", "…cri-containerd-<64 digits>.scope": the digits; "" if there are none.
std::string container_of_cgroup(std::string_view text);

class HostProcesses {
 public:
  explicit HostProcesses(const HostRoot& root) : root_(root) {}

  // Nothing if it is gone or a zombie.
  std::optional<HostProcess> find(std::int32_t pid) const;
  // Whether the process is, or may become again, this user; nothing if that cannot be known.
  std::optional<bool> is_user(std::int32_t pid, std::uint32_t uid) const;
  // Seconds since the epoch at which the process started, to a second; nothing if not known.
  std::optional<double> started_at(std::uint64_t start_ticks) const;

  // Who has device node N open. From the driver's list, else from the links of /proc/*/fd.
  DeviceUsers users(std::uint32_t node) const;

  // Processes of other pid namespaces are looked for once a look.
  void begin_look() {
    inside_.reset();
    if (pids_here_.size() > kMostRemembered) pids_here_.clear();
  }
  // Those who call themselves `pid` in another namespace: their pids here.
  std::vector<std::int32_t> inner(std::int32_t pid);
  // The pid here of a process that calls itself `pid` in another namespace. Remembered.
  std::optional<std::int32_t> pid_here(std::uint64_t name_space, std::int32_t pid,
                                       std::uint64_t start_ticks);

 private:
  DeviceUsers users_by_links(std::uint32_t node) const;
  std::optional<std::int32_t> search(std::uint64_t name_space, std::int32_t pid,
                                     std::uint64_t start_ticks);

  const HostRoot& root_;
  std::map<std::pair<std::uint64_t, std::int32_t>, std::int32_t> pids_here_;
  std::optional<std::multimap<std::int32_t, std::int32_t>> inside_;  // pid there -> pid here
};

}  // namespace ttmem::collect
