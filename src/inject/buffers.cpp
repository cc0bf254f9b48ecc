// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Buffers are recorded after the allocator has placed them and released before it frees them: what
// we say is held is always held.

#include "inject/buffers.hpp"

#include <exception>

#include "inject/allocators.hpp"
#include "inject/buffer_facts.hpp"
#include "inject/failures.hpp"
#include "inject/hooks.hpp"
#include "inject/metal.hpp"
#include "inject/scopes.hpp"

namespace ttmem::inject {

namespace {

using metal::functions;

void raise(std::atomic<std::uint64_t>& highest, std::uint64_t value) {
  std::uint64_t known = highest.load(std::memory_order_relaxed);
  while (known < value && !highest.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

std::uint32_t flags_of(std::uint32_t space) {
  std::uint32_t flags = 0;
  if (space == TTMEM_SPACE_TRACE) flags |= TTMEM_FLAG_TRACE;
  if (scopes.binaries_of) flags |= TTMEM_FLAG_KERNEL_BINARIES;
  return flags;
}

Allocator* find_or_open(const void* allocator, const void* buffer) {
  if (Allocator* known = allocators::find(allocator)) return known;
  return allocators::find_or_open(allocator, device_of(buffer));
}

void note_binaries(const Allocator& allocator, std::uint64_t id) {
  if (!scopes.binaries_of) return;
  scopes.binary_allocator = allocator.id.load(std::memory_order_relaxed);
  scopes.binary_buffer = id;
  scopes.binary_found = true;
}

}  // namespace

[[gnu::hot]] void record_allocation(const void* allocator, const void* buffer,
                                    std::uint64_t address) {
  BufferFacts facts;
  if (!read(buffer, facts)) return ttmem_anomaly(TTMEM_ANOMALY_BAD_VALUE);
  Allocator* entry = find_or_open(allocator, buffer);
  if (!entry) return ttmem_anomaly(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR);
  ttmem_buffer record = {};
  record.id = facts.id;
  record.address = address;
  record.requested = facts.requested;
  record.block = entry->block(functions.buffer_size_per_bank(buffer));
  record.cores = cores_of(buffer, facts);
  record.allocator = entry->id.load(std::memory_order_relaxed);
  record.space = static_cast<std::uint8_t>(facts.space);
  record.layout = static_cast<std::uint8_t>(facts.layout);
  record.per_core = read_per_core(buffer, facts, record.address);
  record.flags = flags_of(facts.space);
  if (ids_are_ordered()) raise(entry->next_id, facts.id + 1);
  ttmem_buffer_allocated(&record);
  note_binaries(*entry, facts.id);
}

namespace {

[[gnu::hot]] void record_free(const void* allocator, const void* buffer) {
  Allocator* entry = allocators::find(allocator);
  std::uint64_t id = 0;
  std::uint32_t space = 0;
  if (!entry || !read_identity(buffer, id, space)) return;
  if (ids_are_ordered() && id < entry->released_below.load(std::memory_order_relaxed)) return;
  ttmem_buffer_freed(entry->id.load(std::memory_order_relaxed), space, id);
}

void report_failure(const void* allocator, const void* buffer, const char* message) {
  BufferFacts facts;
  if (!read(buffer, facts)) return;
  const Allocator* entry = find_or_open(allocator, buffer);
  failures::out_of_memory(message, facts, functions.buffer_size_per_bank(buffer),
                          cores_of(buffer, facts), device_of(buffer), entry);
}

}  // namespace

extern "C" [[gnu::hot]] Returned ttmem_hook_allocate_buffer(void* allocator, void* buffer) {
  Returned result;
  try {
    result = call(ttmem_original_allocate_buffer, allocator, buffer);
  } catch (const std::exception& error) {
    quietly([&] { report_failure(allocator, buffer, error.what()); });
    throw;
  }
  if (ttmem_enabled()) quietly([&] { record_allocation(allocator, buffer, result.low); });
  return result;
}

extern "C" [[gnu::hot]] void ttmem_on_deallocate_buffer(void* allocator, void* buffer) noexcept {
  if (ttmem_enabled()) quietly([=] { record_free(allocator, buffer); });
}

}  // namespace ttmem::inject
