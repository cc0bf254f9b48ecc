// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Traces: what is enqueued between begin and end is recorded by the runtime, not executed.
#pragma once

#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject::traces {

/// True if the queue is capturing: the workload was then made a member of its trace.
bool captured(const void* queue, ttmem_workload_t workload);

/// What its queues were capturing is given up.
void mesh_closed(const void* mesh);

void forget_recorder();

}  // namespace ttmem::inject::traces
