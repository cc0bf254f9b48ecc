// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The daemon as a process of its host: it is the only one for its directory of segments, a service
// manager may have started it, and it says what it costs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "ledger/snapshot.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve {

// ---- one daemon per directory -------------------------------------------------------------------

class RunLock {
 public:
  enum class Outcome { kTaken, kRunning, kImpossible };
  // In the directory where this user's programs write their segments. problem() says why not.
  Outcome take();
  const std::string& problem() const { return problem_; }
  // That directory, once the lock is taken.
  const std::string& directory() const { return directory_; }

 private:
  FileDescriptor file_;
  std::string problem_, directory_;
};

// ---- the service manager ------------------------------------------------------------------------

struct InheritedSockets {
  int http = -1;
  int legacy = -1;
};

// LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES ("http", "legacy"); sockets without a name are told by
// their kind. Afterwards children inherit neither the sockets nor the variables.
InheritedSockets take_inherited_sockets();

// "READY=1", "STOPPING=1", "RELOADING=1", to $NOTIFY_SOCKET.
void tell_service_manager(std::string_view state);

// How often the manager wants to hear "WATCHDOG=1", three times as often as it must; nothing if it
// does not watch.
std::optional<std::chrono::milliseconds> watchdog_pause();

// ---- what it costs ------------------------------------------------------------------------------

// Time and memory of this process; the rest is left to others.
view::SelfFigures own_cost();

}  // namespace ttmem::serve
