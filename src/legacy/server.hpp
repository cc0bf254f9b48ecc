// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's server as a part of the daemon: its socket, its clients, and its log if that was
// asked for. The daemon hands it every snapshot, so that answers and totals count all processes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"
#include "legacy/log.hpp"
#include "legacy/service.hpp"
#include "legacy/socket.hpp"
#include "loop/loop.hpp"

namespace ttmem::legacy {

struct ServerOptions {
  SocketOptions socket;
  ServiceOptions service;
  // The original's log: start and stop lines, one line per message, statistics every ten seconds.
  // Without it only errors are logged.
  bool original_log = false;
};

class Server {
 public:
  // Loop and log outlive it.
  Server(loop::Loop& loop, Log& log, ServerOptions options);
  ~Server();

  // Says why it cannot serve; the rest of the daemon goes on without it.
  std::optional<std::string> start(const ledger::Snapshot& snapshot);
  void observe(const ledger::Snapshot& snapshot);
  // What processes with a segment of their own did since the last time, for the original's log.
  void tell(const std::vector<ledger::EventView>& events, const ledger::Snapshot& snapshot);
  void print_statistics();
  // The last lines. Clients' segments stay for the next daemon.
  void stop();

  const Service& service() const { return service_; }
  const Socket& socket() const { return socket_; }

 private:
  void print_start(const ledger::Snapshot& snapshot);

  loop::Loop& loop_;
  Log& log_;
  ServerOptions options_;
  Service service_;
  Socket socket_;
  loop::Loop::TimerId statistics_timer_ = 0;
};

struct AllocationServerOptions {
  std::string path = "/tmp/tt_allocation_server.sock";
  bool quiet = false;              // no line per message; errors, dumps and statistics stay
  std::uint64_t most_entries = 0;  // 0: as many as the service allows
};

// Serves until SIGINT or SIGTERM. Returns an exit code: 0, or 1 if the path cannot be taken.
int run_allocation_server(const AllocationServerOptions& options);

}  // namespace ttmem::legacy
