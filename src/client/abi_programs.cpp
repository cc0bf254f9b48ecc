// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The C ABI: programs, workloads, traces, rings and failures.
#include <cstddef>
#include <cstring>

#include "client/own_recorder.hpp"

using ttmem::client::Call;
using ttmem::client::here;

extern "C" {

// ---- programs

void ttmem_program_registered(const ttmem_program* program) {
  const ttmem_origin_t origin = here();
  const Call call;
  if (!call || program == nullptr) return;
  call->programs.registered(*program, origin);
  if (program->workload != 0) {
    call->workloads.joined(program->workload, program->id, program->set, origin);
  }
}

void ttmem_program_ranges_replaced(uint64_t program, ttmem_set_t set, const ttmem_range* ranges,
                                   uint32_t count) {
  if (const Call call; call) call->programs.ranges_replaced(program, set, ranges, count);
}

void ttmem_program_config_sized(uint64_t program, ttmem_set_t set,
                                const uint32_t config_bytes[TTMEM_CORE_TYPES]) {
  if (const Call call; call && config_bytes != nullptr) {
    call->programs.config_sized(program, set, config_bytes);
  }
}

void ttmem_program_released(uint64_t program) {
  if (const Call call; call) call->programs.released(program);
}

void ttmem_program_released_on(uint64_t program, ttmem_set_t set) {
  if (const Call call; call) call->programs.released_on(program, set);
}

// ---- workloads

ttmem_workload_t ttmem_workload_created(uint64_t id, ttmem_set_t set) {
  const ttmem_origin_t origin = here();
  if (const Call call; call) return call->workloads.created(id, set, origin);
  return 0;
}

void ttmem_workload_joined(ttmem_workload_t workload, uint64_t program, ttmem_set_t set) {
  const ttmem_origin_t origin = here();
  if (const Call call; call) call->workloads.joined(workload, program, set, origin);
}

void ttmem_workload_binaries(ttmem_workload_t workload, ttmem_allocator_t allocator,
                             uint64_t buffer) {
  if (const Call call; call) call->workloads.binaries(workload, allocator, buffer);
}

void ttmem_workload_released(ttmem_workload_t workload) {
  if (const Call call; call) call->workloads.released(workload);
}

// Queue and sub-device matter to the rings, which have calls of their own.
[[gnu::hot]] void ttmem_dispatched_(ttmem_workload_t workload, uint32_t, uint32_t, uint32_t flags) {
  auto* recorder = ttmem::client::own_recorder();
  if (flags == 0 && recorder != nullptr && recorder->is_open() &&
      recorder->workloads.dispatched_hot(workload)) {
    return;
  }
  if (const Call call; call) call->workloads.dispatched(workload, flags);
}

// ---- traces

void ttmem_trace_begun(uint64_t trace, ttmem_set_t set, uint32_t queue) {
  const ttmem_origin_t origin = here();
  if (const Call call; call) call->traces.begun(trace, set, queue, origin);
}

void ttmem_trace_captured(uint64_t trace, ttmem_workload_t workload) {
  if (const Call call; call) call->traces.captured(trace, workload);
}

void ttmem_trace_ended(uint64_t trace) {
  if (const Call call; call) call->traces.ended(trace);
}

void ttmem_trace_replayed(uint64_t trace) {
  if (const Call call; call) call->traces.replayed(trace);
}

void ttmem_trace_released(uint64_t trace) {
  if (const Call call; call) call->traces.released(trace);
}

// ---- kernel-config rings

ttmem_ring_manager_t ttmem_ring_manager_opened(ttmem_set_t set, uint32_t queue, uint32_t sub_device,
                                               const ttmem_ring* rings, uint32_t count,
                                               uint32_t observed) {
  if (const Call call; call && rings != nullptr) {
    return call->rings.opened(set, queue, sub_device, rings, count, observed != 0);
  }
  return 0;
}

void ttmem_ring_freed(ttmem_ring_manager_t manager, uint32_t sync) {
  if (const Call call; call) call->rings.freed(manager, sync);
}

[[gnu::hot]] void ttmem_ring_launched(ttmem_ring_manager_t manager,
                                      const ttmem_ring_launch* launch) {
  if (const Call call; call && launch != nullptr) call->rings.launched(manager, *launch);
}

void ttmem_ring_filled(ttmem_ring_manager_t manager, uint32_t sync) {
  if (const Call call; call) call->rings.filled(manager, sync);
}

void ttmem_ring_reset(ttmem_ring_manager_t manager) {
  if (const Call call; call) call->rings.reset(manager);
}

void ttmem_ring_saved(ttmem_ring_manager_t manager) {
  if (const Call call; call) call->rings.saved(manager);
}

void ttmem_ring_restored(ttmem_ring_manager_t manager) {
  if (const Call call; call) call->rings.restored(manager);
}

void ttmem_ring_simulated(ttmem_ring_manager_t manager, ttmem_workload_t workload,
                          const uint32_t* bytes, uint32_t count, uint32_t workers, uint32_t first) {
  if (const Call call; call && bytes != nullptr) {
    call->rings.simulated(manager, workload, bytes, count, workers, first != 0);
  }
}

void ttmem_ring_manager_closed(ttmem_ring_manager_t manager) {
  if (const Call call; call) call->rings.closed(manager);
}

// ---- failures

uint32_t ttmem_failed(const ttmem_failure* failure) {
  const ttmem_origin_t origin = here();
  if (const Call call; call && failure != nullptr) {
    const bool has_origin = failure->struct_size >= sizeof *failure;  // the first form had none
    ttmem_failure told = {};
    std::memcpy(&told, failure, has_origin ? sizeof told : offsetof(ttmem_failure, origin));
    return call->failures.failed(told, told.origin != 0 ? told.origin : origin);
  }
  return 0;
}

}  // extern "C"
