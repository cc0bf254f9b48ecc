// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The C ABI: the process, interned data, devices, allocators, buffers and figures. Each call
// forwards to the process's own recorder.
#include <cerrno>

#include "client/own_recorder.hpp"

using ttmem::client::Call;
using ttmem::client::here;
using ttmem::client::Recorder;
using ttmem::client::thread_state;

namespace {

// For questions, which start no segment.
Recorder* open_recorder() {
  Recorder* recorder = ttmem::client::own_recorder();
  return recorder != nullptr && recorder->is_open() ? recorder : nullptr;
}

}  // namespace

extern "C" {

int ttmem_open(void) { return ttmem::client::open_own_recorder(); }

void ttmem_close(void) {
  auto* recorder = ttmem::client::own_recorder();
  if (recorder == nullptr || !recorder->is_open()) return;
  if (const Call call; call) call->close();
}

const char* ttmem_segment_path(void) {
  const auto* recorder = ttmem::client::own_recorder();
  return recorder != nullptr && recorder->is_open() ? recorder->writer.store.file().path() : "";
}

void ttmem_process_described(const ttmem_process_info* info) {
  if (const Call call; call && info != nullptr) call->process_described(*info);
}

void ttmem_anomaly(uint32_t kind) {
  if (const Call call; call) call->anomaly(kind);
}

void ttmem_anomaly_of(uint32_t kind, uint64_t id, ttmem_set_t set) {
  if (const Call call; call) call->anomaly(kind, id, set);
}

// ---- interned data

ttmem_string_t ttmem_intern_string(const char* text, size_t length) {
  if (const Call call; call && text != nullptr) return call->interning.string(text, length);
  return 0;
}

ttmem_string_t ttmem_intern_line(const char* file, uint32_t line, const char* function) {
  if (const Call call; call) return call->interning.line(file, line, function);
  return 0;
}

ttmem_cores_t ttmem_intern_cores(uint32_t core_type, const ttmem_core_range* ranges,
                                 uint32_t count) {
  if (const Call call; call && ranges != nullptr) {
    return call->interning.cores(core_type, ranges, count);
  }
  return 0;
}

ttmem_cores_t ttmem_intern_core_count(uint32_t core_type, uint32_t count) {
  if (const Call call; call) return call->interning.core_count(core_type, count);
  return 0;
}

ttmem_cores_t ttmem_intern_banks(const uint16_t* banks, uint32_t count) {
  if (const Call call; call && banks != nullptr) return call->interning.banks(banks, count);
  return 0;
}

uint32_t ttmem_intern_addresses(const uint64_t* addresses, uint32_t count) {
  if (const Call call; call && addresses != nullptr) {
    return call->interning.addresses(addresses, count);
  }
  return 0;
}

// ---- devices, sets, allocators

ttmem_device_t ttmem_device_opened(const ttmem_device_info* info) {
  if (const Call call; call && info != nullptr) return call->devices.opened(*info);
  return 0;
}

void ttmem_device_closed(ttmem_device_t device) {
  if (const Call call; call) call->device_closed(device);
}

ttmem_set_t ttmem_device_set(const ttmem_set_info* info) {
  if (const Call call; call && info != nullptr) return call->devices.set(*info);
  return 0;
}

ttmem_allocator_t ttmem_allocator_opened(const ttmem_allocator_info* info) {
  if (const Call call; call && info != nullptr) return call->allocators.opened(*info);
  return 0;
}

void ttmem_allocator_resized(ttmem_allocator_t allocator, const ttmem_space_info* space) {
  if (const Call call; call && space != nullptr) call->allocators.resized(allocator, *space);
}

void ttmem_allocator_cleared(ttmem_allocator_t allocator) {
  if (const Call call; call) call->allocators.cleared(allocator);
}

void ttmem_allocator_closed(ttmem_allocator_t allocator) {
  if (const Call call; call) call->allocators.closed(allocator);
}

int ttmem_allocator_read(ttmem_allocator_t allocator, uint32_t space, uint64_t* bytes,
                         uint64_t* last_event) {
  if (const Call call; call) return call->buffers.read(allocator, space, bytes, last_event);
  return ENOENT;
}

void ttmem_audited(ttmem_allocator_t allocator, uint32_t space, uint64_t ours, uint64_t theirs) {
  if (const Call call; call) call->allocators.audited(allocator, space, ours, theirs);
}

// ---- buffers

[[gnu::hot]] void ttmem_buffer_allocated_(const ttmem_buffer* buffer) {
  const ttmem_origin_t origin = here();
  if (const Call call; call) call->buffers.allocated(*buffer, origin);
}

[[gnu::hot]] void ttmem_buffer_freed_(ttmem_allocator_t allocator, uint32_t space, uint64_t id) {
  if (const Call call; call) call->buffers.freed(allocator, space, id);
}

void ttmem_buffer_freed_if_known(ttmem_allocator_t allocator, uint32_t space, uint64_t id) {
  if (const Call call; call) call->buffers.freed_if_known(allocator, space, id);
}

void ttmem_buffer_seeded(const ttmem_buffer* buffer) {
  if (const Call call; call && buffer != nullptr) call->buffers.allocated(*buffer, 0);
}

void ttmem_buffer_followed(ttmem_allocator_t allocator, uint32_t space, uint64_t id,
                           ttmem_string_t operation) {
  if (const Call call; call) call->buffers.followed(allocator, space, id, operation);
}

void ttmem_buffer_flagged(ttmem_allocator_t allocator, uint32_t space, uint64_t id,
                          uint32_t flags) {
  if (const Call call; call) call->buffers.flagged(allocator, space, id, flags);
}

// ---- origins

void ttmem_tag_push(ttmem_string_t name, ttmem_string_t line) {
  if (const Call call; call) thread_state.enter(call.owner(), call->writer.origins, name, line);
}

void ttmem_tag_pop(void) {
  if (const Call call; call) thread_state.leave(call.owner(), call->writer.origins);
}

void ttmem_next_step(void) {
  if (open_recorder() == nullptr) return;
  if (const Call call; call) call->next_step();
}

void ttmem_origins_from(ttmem_origin_source source) {
  ttmem::client::origin_source.store(source, std::memory_order_release);
}

uint32_t ttmem_intern_frame(const char* file, size_t file_length, uint32_t line,
                            const char* function, size_t function_length, uint32_t flags) {
  if (const Call call; call && file != nullptr && function != nullptr) {
    return call->writer.origins.frame(file, file_length, line, function, function_length, flags);
  }
  return 0;
}

ttmem_origin_t ttmem_intern_stack(ttmem_origin_t around, const ttmem_step* steps, uint32_t count) {
  if (const Call call; call && steps != nullptr) {
    return call->writer.origins.stack(around, steps, count);
  }
  return around;
}

ttmem_origin_t ttmem_origin_here(void) { return here(); }

void ttmem_stack_odd(void) {
  if (const Call call; call) call->writer.store.count_odd_stack();
}

// ---- figures

int ttmem_self(ttmem_device_t device, uint32_t figure, ttmem_figures* figures) {
  if (const Call call; call && figures != nullptr) return call->self(device, figure, figures);
  return ENOENT;
}

uint32_t ttmem_watermark_open(ttmem_string_t name) {
  if (const Call call; call) return call->watermark_open(name);
  return 0;
}

int ttmem_watermark_read(uint32_t watermark, ttmem_device_t device, uint32_t figure,
                         ttmem_figures* at_open_and_peak) {
  if (const Call call; call && at_open_and_peak != nullptr) {
    return call->watermark_read(watermark, device, figure, at_open_and_peak);
  }
  return ENOENT;
}

void ttmem_watermark_close(uint32_t watermark) {
  if (const Call call; call) call->watermark_close(watermark);
}

uint32_t ttmem_region_enter(ttmem_string_t name) {
  const Call call;
  if (!call) return 0;
  thread_state.enter(call.owner(), call->writer.origins, name, 0);
  return call->watermark_of_region(name);
}

uint32_t ttmem_region_leave(uint32_t watermark, uint64_t* figures, uint32_t devices) {
  const Call call;
  if (!call) return 0;
  const uint32_t known = watermark == 0 ? 0 : call->leave_watermark(watermark, figures, devices);
  if (known <= devices) thread_state.leave(call.owner(), call->writer.origins);
  return known;
}

// ---- what a process asks about its own recording

int ttmem_hooked(void) {
  Recorder* recorder = open_recorder();
  if (recorder == nullptr) return 0;
  const auto& header = recorder->writer.store.header();
  return header.source == TTMEM_SOURCE_INJECTOR &&
         (header.hooks_bound[0] != 0 || header.hooks_bound[1] != 0);
}

int ttmem_device_read(ttmem_device_t device, ttmem_device_identity* identity) {
  Recorder* recorder = open_recorder();
  if (recorder == nullptr || identity == nullptr || !recorder->devices.knows(device)) return ENOENT;
  const ttmem::client::LockGuard guard(recorder->writer.store.lock);
  const auto& record =
      recorder->writer.store.at<ttmem::segment::Device>(ttmem::segment::kDevicesOffset)[device];
  identity->metal_id = record.metal_id;
  identity->unique_id = record.unique_id;
  identity->arch = record.arch;
  identity->mock = record.mock;
  identity->open = record.open;
  return 0;
}

}  // extern "C"
