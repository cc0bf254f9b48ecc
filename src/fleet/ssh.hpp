// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace ttmem::fleet {

struct SshQuestion {
  std::string program;  // "ssh"
  std::string host;     // does not begin with '-'
  std::string remote;   // what is run there
  std::chrono::milliseconds timeout;
  std::size_t most_bytes;
};

// What the command printed there. It is asked for no password, and killed at the deadline.
Result<std::string> run_by_ssh(const SshQuestion& question);

}  // namespace ttmem::fleet
