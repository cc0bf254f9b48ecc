// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's server as a part of the daemon: its socket, its clients, and its log if that was
// asked for. The daemon hands it every snapshot, so that answers and totals count all processes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"
#include "serve/legacy/log.hpp"
#include "serve/legacy/service.hpp"
#include "serve/legacy_socket.hpp"
#include "serve/loop.hpp"

namespace ttmem::serve {

struct LegacyServerOptions {
  LegacySocketOptions socket;
  legacy::ServiceOptions service;
  // The original's log: start and stop lines, one line a message, statistics every ten seconds.
  // Without it only errors are logged.
  bool original_log = false;
};

class LegacyServer {
 public:
  // Loop and log outlive it.
  LegacyServer(Loop& loop, legacy::Log& log, LegacyServerOptions options);
  ~LegacyServer();

  // Says why it cannot serve; the rest of the daemon goes on without it.
  std::optional<std::string> start(const ledger::Snapshot& snapshot);
  void observe(const ledger::Snapshot& snapshot);
  // What processes with a segment of their own did since the last time, for the original's log.
  void tell(const std::vector<ledger::EventView>& events, const ledger::Snapshot& snapshot);
  void print_statistics();
  // The last lines. Clients' segments stay for the next daemon.
  void stop();

  const legacy::Service& service() const { return service_; }
  const LegacySocket& socket() const { return socket_; }

 private:
  void print_start(const ledger::Snapshot& snapshot);

  Loop& loop_;
  legacy::Log& log_;
  LegacyServerOptions options_;
  legacy::Service service_;
  LegacySocket socket_;
  Loop::TimerId statistics_timer_ = 0;
};

}  // namespace ttmem::serve
