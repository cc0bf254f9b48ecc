// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The runtime's allocators and what each has given out. Looked up at every allocation and free, so
// finding one takes no lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// On a cache line of its own.
struct alignas(64) Allocator {
  std::atomic<const void*> key{nullptr};  ///< AllocatorImpl*
  std::atomic<ttmem_allocator_t> id{0};
  ttmem_set_t set = 0;
  std::uint32_t block_alignment = 1;  ///< of DRAM, which rounds blocks in every space

  std::atomic<std::uint64_t> next_id{0};  ///< one past the highest buffer id seen
  /// Buffers below this id may have been released all at once, or belong to an allocator that lay
  /// here before: their own release comes later and may be nothing.
  std::atomic<std::uint64_t> released_below{0};
  /// It has given out addresses core by core: it then keeps a copy of what the meshes around it
  /// hold in lock-step.
  std::atomic<bool> per_core{false};

  std::uint64_t block(std::uint64_t bytes_per_bank) const {
    const std::uint64_t unit = block_alignment;  // a power of two
    const std::uint64_t least = bytes_per_bank < unit ? unit : bytes_per_bank;
    return (least + unit - 1) & ~(unit - 1);
  }
};

namespace allocators {

inline constexpr std::size_t kMax = 1024;

/// Null if it is not known.
Allocator* find(const void* allocator);

/// Finds it, or tells the recorder about it: `device` is the IDevice it serves. Null if that fails.
Allocator* find_or_open(const void* allocator, const void* device);
/// The same for an allocator whose set is known.
Allocator* open(const void* allocator, ttmem_set_t set);

/// Reads a space's capacity again and tells the recorder.
void resized(const void* allocator, std::uint32_t space);

/// All of its buffers are gone.
void cleared(const void* allocator);
/// It will not be seen again.
void closed(const void* allocator);

/// Every open one, in no order. The audit lock must be held.
template <typename Visitor>
void visit(Visitor&& visitor);

/// Plain memory of the library, never built and never destroyed: hooks run at any time.
extern Allocator table[kMax];

template <typename Visitor>
void visit(Visitor&& visitor) {
  for (Allocator& entry : table) {
    if (entry.id.load(std::memory_order_acquire)) visitor(entry);
  }
}

/// Whether it was in use when this process was forked, and nobody has asked before: what it holds
/// is then to be read from it.
bool take_inherited(const void* allocator);

/// After a fork: the ids mean nothing, and what lived then was recorded by the parent.
void forget_recorder();

}  // namespace allocators
}  // namespace ttmem::inject
