// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Buffers of the runtime: what one says about itself, in every supported release, and how it is
// recorded.
#pragma once

#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

struct BufferFacts {
  std::uint64_t id = 0;
  std::uint64_t requested = 0;
  std::uint32_t space = 0;
  std::uint32_t layout = 0;
};

/// False if the buffer cannot be read: a release whose layout is not known.
bool read(const void* buffer, BufferFacts& facts);

/// The IDevice it was made on.
const void* device_of(const void* buffer);

/// Only what identifies it: for the way of a free.
bool read_identity(const void* buffer, std::uint64_t& id, std::uint32_t& space);

/// Whether ids grow with every buffer (else they are addresses, which are used again).
bool ids_are_ordered();

/// The cores or banks that hold data; 0 = every bank.
ttmem_cores_t cores_of(const void* buffer, const BufferFacts& facts);

/// Whether each core has an address of its own; then `address` becomes an interned list of them.
bool read_per_core(const void* buffer, const BufferFacts& facts, std::uint64_t& address);

/// Records a buffer that the allocator has placed at this address.
void record_allocation(const void* allocator, const void* buffer, std::uint64_t address);

/// Records what the allocator held before anybody looked, but for one buffer (null = all of it):
/// how many there were.
unsigned seed(const void* allocator, const void* except);

}  // namespace ttmem::inject
