// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Follows processes as somebody reads them: events in, a look at what is held whenever a step
// began, a report out. The command, the live screen and the daemon do it in the same way. At most
// 256 processes are followed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "explain/leaks.hpp"
#include "ledger/event.hpp"

namespace ttmem::explain {

class LeakFollower {
 public:
  // What a device holds in a space, once for each living process that has it open.
  using AskSpaces =
      std::function<std::vector<ledger::LiveSpace>(std::uint32_t device, ledger::Space space)>;

  // In the order in which they happened.
  void take(const std::vector<ledger::EventView>& events);
  // A step of every living process begins now.
  void mark_all(const ledger::Snapshot& snapshot);
  // Whether a step of a living process began since it was last looked at.
  bool is_due(const ledger::Snapshot& snapshot) const;
  // Looks at those.
  void look(const ledger::Snapshot& snapshot, const AskSpaces& spaces);
  // Forgets who ended: for those who follow for days.
  void forget_the_dead(const ledger::Snapshot& snapshot);

  LeakReport report() const { return watch_.report(); }

 private:
  LeakWatch watch_;
};

}  // namespace ttmem::explain
