// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The launches of programs: the counters that a watch looks at, and whose launches they are. A
// program is launched by its workload, and by every replay of a trace that has it as a member.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/launch_watch.hpp"
#include "ledger/live_state.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// Workloads whose slice lies in an open ring; nothing: there is no ring that anybody follows.
std::optional<std::unordered_set<std::uint64_t>> workloads_in_rings(const LiveState& live);

// The counters of every live workload and trace.
void launch_counts(const LiveState& live, const std::function<void(const LaunchCount&)>& visit);

// Which traces replay a program: live ones with their replays, and those that a watch remembers.
class Replays {
 public:
  Replays(const LiveState& live, const LaunchWatch* watch);

  // Fills in replays, the recent rate and, where they are wanted, the launches.
  void describe(const ProgramRecord& record, const Naming& naming, ProgramView& view) const;

 private:
  struct Trace {
    SetIndex set = 0;  // of the member
    std::uint64_t id = 0, replays = 0;
  };
  using Members = std::unordered_map<std::uint64_t, std::vector<Trace>>;  // by program

  static void add_members(const Catalog& catalog, ListId list, Trace trace, Members& all);

  const LaunchWatch* watch_;
  Members live_, watched_;
};

}  // namespace ttmem::ledger
