// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/thread_state.hpp"

namespace ttmem::client {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

// A level that names no operation, or no line, carries on the one around it.
void ThreadState::push(std::uint32_t recorder, Origin origin) {
  if (owner != recorder) depth = 0;
  owner = recorder;
  if (depth < kLevels) {
    const Origin around = depth == 0 ? Origin{} : tags[depth - 1];
    tags[depth].operation = origin.operation != 0 ? origin.operation : around.operation;
    tags[depth].line = origin.line != 0 ? origin.line : around.line;
  }
  if (depth < UINT16_MAX) ++depth;
}

void ThreadState::pop(std::uint32_t recorder) {
  if (owner == recorder && depth > 0) --depth;
}

}  // namespace ttmem::client
