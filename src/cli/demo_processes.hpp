// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The processes of `ttmem demo`: this one, or several children that die with it, however it ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ttmem::cli {

// What a process of the demonstration does. It calls `ready` when everything is recorded.
using DemoBody = std::function<int(std::uint32_t index, const std::function<void()>& ready)>;

class DemoProcesses {
 public:
  DemoProcesses() = default;
  // Ends the children that are left.
  ~DemoProcesses();
  DemoProcesses(const DemoProcesses&) = delete;
  DemoProcesses& operator=(const DemoProcesses&) = delete;

  // Starts `count` children and waits until each is ready. False: one could not be, and the rest
  // were not started.
  bool start(std::uint32_t count, const DemoBody& body);
  const std::vector<pid_t>& pids() const { return pids_; }
  // Some are still running.
  bool any_left();

 private:
  std::vector<pid_t> pids_;
  std::vector<pid_t> running_;
};

}  // namespace ttmem::cli
