// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the runtime could not place, with a frozen picture of who was in the way.
#pragma once

#include <cstdint>

#include "inject/allocators.hpp"
#include "inject/buffers.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::inject::failures {

/// An allocation that threw. `allocator` may be null.
void out_of_memory(const char* message, const BufferFacts& facts, std::uint64_t per_bank,
                   ttmem_cores_t cores, const void* device, const Allocator* allocator);

/// A program whose L1 ranges reach into buffers. `kind` is TTMEM_FAILURE_*.
void clash(std::uint32_t kind, const char* message, const void* program, const void* device);

/// An enqueue that threw for another reason: only what the ring could not hold is a failure of
/// memory.
void enqueue(const char* message, const void* device);

/// A capture that could not be kept: only what its region could not hold is a failure of memory.
/// `allocator` may be null.
void trace_kept(const char* message, const Allocator* allocator);

}  // namespace ttmem::inject::failures
