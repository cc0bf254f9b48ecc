// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's server at a path of the test's own: legacy_server SOCKET [-q] [ENTRIES]
#include <cstdlib>
#include <cstring>

#include "legacy/server.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  ttmem::legacy::AllocationServerOptions options;
  options.path = argv[1];
  options.quiet = argc > 2 && std::strcmp(argv[2], "-q") == 0;
  if (argc > 3) options.most_entries = std::strtoull(argv[3], nullptr, 10);
  return ttmem::legacy::run_allocation_server(options);
}
