// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/thread_state.hpp"

namespace ttmem::client {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

}  // namespace ttmem::client
