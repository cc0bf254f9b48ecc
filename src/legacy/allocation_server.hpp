// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `allocation_server_poc`: the original's server alone, with its log on stdout, on a loop of its
// own. Readers and `ttmem` see its clients through their segments like everybody else.
#pragma once

#include <cstdint>
#include <string>

#include "legacy/server.hpp"

namespace ttmem::legacy {

struct AllocationServerOptions {
  std::string path = "/tmp/tt_allocation_server.sock";
  bool quiet = false;              // no line a message; errors, dumps and statistics stay
  std::uint64_t most_entries = 0;  // 0: as many as the service allows
};

// Serves until SIGINT or SIGTERM. Returns an exit code: 0, or 1 if the path cannot be taken.
int run_allocation_server(const AllocationServerOptions& options);

}  // namespace ttmem::legacy
