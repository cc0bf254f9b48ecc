// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Snapshots of many hosts at once, without any engine: from their daemons over HTTP, or by ssh. All
// are asked at the same time; one that is slow delays nobody, and is given up at its deadline.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fleet/fleet.hpp"
#include "fleet/hosts_file.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::fleet {

struct HostQuestion {
  std::chrono::milliseconds timeout{5000};
  std::string token;                           // of the daemons; "" = none
  std::string ssh = "ssh";                     // the program
  std::string remote = "ttmem status --json";  // what it runs there
};

struct HostAnswer {
  std::string name;  // of the entry
  Result<ledger::Snapshot> snapshot = Error{};
};

// `progress` is called, by this thread, whenever somebody has answered: how many have.
std::vector<HostAnswer> ask_hosts(const std::vector<HostEntry>& hosts, const HostQuestion& question,
                                  const std::function<void(std::size_t)>& progress);

// The answers as a fleet.
Fleet fleet_of(const std::vector<HostAnswer>& answers, std::uint64_t now_ns);

}  // namespace ttmem::fleet
