// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/allocation_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "collect/collector.hpp"
#include "legacy/stream_log.hpp"
#include "loop/loop.hpp"

namespace ttmem::legacy {

using namespace std::chrono_literals;

int run_allocation_server(const AllocationServerOptions& options) {
  loop::Loop loop;
  StreamLog log(STDOUT_FILENO, STDERR_FILENO, options.quiet);
  collect::Collector collector({.totals_only = true, .events = !options.quiet, .host = true});
  collector.refresh();
  collector.take_events();

  ServerOptions wanted;
  wanted.socket.path = options.path;
  wanted.original_log = true;
  if (options.most_entries > 0) wanted.service.most_entries = options.most_entries;
  Server server(loop, log, wanted);
  // Before anybody can know of us; what comes waits for the loop.
  for (const int signal : {SIGINT, SIGTERM}) {
    loop.on_signal(signal, [&loop] { loop.stop(); });
  }
  loop.on_signal(SIGUSR1, [&server] { server.print_statistics(); });
  if (const auto problem = server.start(collector.snapshot())) {
    log.error("Error: " + *problem + "\n");
    log.flush();
    return 1;
  }
  loop.every(200ms, [&] {
    collector.refresh();
    server.observe(collector.snapshot());
    server.tell(collector.take_events(), collector.snapshot());
  });
  loop.run();
  server.stop();
  return 0;
}

}  // namespace ttmem::legacy
