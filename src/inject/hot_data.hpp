// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the hooks read at every operation, in a section of its own: on a few neighbouring cache
// lines of one page, wherever it is defined. Between two operations all caches are cold.
#pragma once

#include "ttmem/ttmem.h"

#define TTMEM_HOT_DATA __attribute__((section("ttmem_hot")))

namespace ttmem::inject {

/// The calls of the recorder on that way. The linker's own table has them far apart.
struct RecorderCalls {
  void (*allocated)(const ttmem_buffer*);
  void (*freed)(ttmem_allocator_t, uint32_t, uint64_t);
  void (*followed)(ttmem_allocator_t, uint32_t, uint64_t, ttmem_string_t);
  void (*ring_launched)(ttmem_ring_manager_t, const ttmem_ring_launch*);
  void (*dispatched)(ttmem_workload_t, uint32_t, uint32_t, uint32_t);
  const int* active;

  bool enabled() const { return *active != 0; }
};
extern RecorderCalls recorder;

}  // namespace ttmem::inject
