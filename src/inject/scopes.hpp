// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the current thread is inside of: which hooks lie below it on the stack. It is plain data of
// at most 64 bytes, because a library that is loaded late gets little thread-local space.
#pragma once

#include <atomic>
#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

struct RangeCollector;

struct Scopes {
  const void* queue;            ///< of the enqueue this thread is in; null = in none
  const void* workload;         ///< being enqueued
  const void* caller;           ///< return address of the enqueue
  RangeCollector* ranges;       ///< gathers the L1 ranges that a program is given
  const void* binaries_of;      ///< workload whose binaries are being loaded
  std::uint64_t binary_buffer;  ///< id of the buffer that was allocated for them
  std::uint16_t binary_allocator;
  std::uint16_t fabric_depth;  ///< > 0: the device builds its fabric routers on this thread
  bool binary_found;
};
static_assert(sizeof(Scopes) <= 64);

extern thread_local Scopes scopes __attribute__((tls_model("initial-exec")));

/// Dispatch kernels are built on threads of the runtime's own: this one is process-wide.
extern std::atomic<int> dispatch_depth;

}  // namespace ttmem::inject
