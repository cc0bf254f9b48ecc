// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <sys/types.h>

#include "segment/format.hpp"

namespace ttmem::client {

// Who a process is, from /proc: what cannot be read stays zero. Makes a dozen system calls.
segment::Identity identity_of(pid_t pid);

}  // namespace ttmem::client
