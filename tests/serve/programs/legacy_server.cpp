// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's server alone, for tests that speak to it: legacy_server SOCKET [-q] [ENTRIES]
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "collect/collector.hpp"
#include "serve/legacy/stream_log.hpp"
#include "serve/legacy_server.hpp"
#include "serve/poll_loop.hpp"

int main(int argc, char** argv) {
  using namespace ttmem::serve;
  if (argc < 2) return 2;
  PollLoop loop;
  legacy::StreamLog log(STDOUT_FILENO, STDERR_FILENO, argc > 2 && std::strcmp(argv[2], "-q") == 0);
  LegacyServerOptions options;
  options.socket.path = argv[1];
  options.original_log = true;
  if (argc > 3) options.service.most_entries = std::strtoull(argv[3], nullptr, 10);
  ttmem::collect::Collector collector({.totals_only = true});
  collector.refresh();
  LegacyServer server(loop, log, options);
  if (const auto problem = server.start(collector.snapshot())) {
    fmt::print(stderr, "{}\n", *problem);
    return 1;
  }
  loop.every(std::chrono::milliseconds(100), [&] {
    collector.refresh();
    server.observe(collector.snapshot());
    log.flush();
  });
  loop.on_signal(SIGTERM, [&] { loop.stop(); });
  loop.on_signal(SIGINT, [&] { loop.stop(); });
  loop.on_signal(SIGUSR1, [&] { server.print_statistics(); });
  loop.run();
  server.stop();
}
