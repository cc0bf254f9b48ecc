// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/failures.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/programs.hpp"

namespace ttmem::inject::failures {

namespace {

ttmem_failure begin(std::uint32_t kind, const char* message) {
  ttmem_failure failure = {};
  failure.struct_size = sizeof failure;
  failure.kind = kind;
  failure.message = message;
  failure.space = TTMEM_SPACE_L1;
  return failure;
}

/// The number after `words`, or 0.
std::uint64_t number_after(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  return at == std::string_view::npos ? 0
                                      : std::strtoull(text.data() + at + words.size(), nullptr, 10);
}

Returned watched(void* original, std::uint32_t kind, void* program, const void* device) {
  try {
    return call(original, program, device);
  } catch (const std::exception& error) {
    quietly([&] { clash(kind, error.what(), program, device); });
    throw;
  }
}

}  // namespace

void out_of_memory(const char* message, const BufferFacts& facts, std::uint64_t per_bank,
                   ttmem_cores_t cores, const void* device, const Allocator* allocator) {
  ttmem_failure failure = begin(TTMEM_FAILURE_OUT_OF_MEMORY, message);
  failure.requested = facts.requested;
  failure.per_bank = allocator ? allocator->block(per_bank) : per_bank;
  failure.cores = cores;
  failure.set = allocator ? allocator->set : chips::set_of(device);
  failure.allocator = allocator ? allocator->id.load() : ttmem_allocator_t{0};
  failure.space = facts.space;
  ttmem_failed(&failure);
}

void clash(std::uint32_t kind, const char* message, const void* program, const void* device) {
  ttmem_failure failure = begin(kind, message);
  failure.set = programs::set_of(program, device);
  failure.program = programs::id_of(program);
  ttmem_failed(&failure);
}

void enqueue(const char* message, const void* device) {
  if (!std::strstr(message, "too large for kernel config buffer")) return;
  ttmem_failure failure = begin(TTMEM_FAILURE_RING_TOO_SMALL, message);
  failure.per_bank = number_after(message, "Program size (");
  failure.set = chips::set_of(device);
  ttmem_failed(&failure);
}

void trace_kept(const char* message, const Allocator* allocator) {
  // What the allocator itself refused is a failure already.
  const bool too_small = std::strstr(message, "is allocated for trace region") != nullptr;
  const bool overlaps = std::strstr(message, "Trace buffer at address") != nullptr;
  if (!too_small && !overlaps) return;
  ttmem_failure failure =
      begin(too_small ? TTMEM_FAILURE_OUT_OF_MEMORY : TTMEM_FAILURE_OTHER, message);
  failure.space = too_small ? TTMEM_SPACE_TRACE : TTMEM_SPACE_DRAM;
  failure.set = allocator ? allocator->set : ttmem_set_t{0};
  failure.allocator = allocator ? allocator->id.load() : ttmem_allocator_t{0};
  ttmem_failed(&failure);
}

extern "C" Returned ttmem_hook_validate_circular_buffers(void* program, const void* device) {
  return watched(ttmem_original_validate_circular_buffers, TTMEM_FAILURE_CB_CLASH, program, device);
}

extern "C" Returned ttmem_hook_validate_dataflow_buffers(void* program, const void* device) {
  return watched(ttmem_original_validate_dataflow_buffers, TTMEM_FAILURE_DATAFLOW_BUFFER_CLASH,
                 program, device);
}

}  // namespace ttmem::inject::failures
