// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/traces.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"
#include "inject/rings.hpp"

namespace ttmem::inject::traces {

namespace {

TTMEM_HOT_DATA std::atomic<int> capturing{0};

/// The trace that each queue is capturing; guarded by the state lock.
std::map<const void*, std::uint32_t>& by_queue() {
  static auto& map = *new std::map<const void*, std::uint32_t>;
  return map;
}

void begun(const void* queue, std::uint32_t trace) {
  ttmem_trace_begun(trace, chips::set_of(metal::mesh_of_queue(queue)),
                    metal::number_of_queue(queue));
  const std::lock_guard lock(locks().state);
  if (by_queue().insert_or_assign(queue, trace).second) capturing.fetch_add(1);
}

void ended(const void* queue) {
  std::uint32_t trace = 0;
  {
    const std::lock_guard lock(locks().state);
    const auto found = by_queue().find(queue);
    if (found == by_queue().end()) return;
    trace = found->second;
    by_queue().erase(found);
    capturing.fetch_sub(1);
  }
  ttmem_trace_ended(trace);
}

}  // namespace

bool captured(const void* queue, ttmem_workload_t workload) {
  if (capturing.load(std::memory_order_relaxed) == 0) return false;
  std::uint32_t trace = 0;
  {
    const std::lock_guard lock(locks().state);
    const auto found = by_queue().find(queue);
    if (found == by_queue().end()) return false;
    trace = found->second;
  }
  ttmem_trace_captured(trace, workload);
  return true;
}

void mesh_closed(const void* mesh) {
  std::vector<std::uint32_t> given_up;
  {
    const std::lock_guard lock(locks().state);
    capturing.fetch_sub(static_cast<int>(std::erase_if(by_queue(), [&](const auto& capture) {
      const auto& [queue, trace] = capture;
      if (metal::mesh_of_queue(queue) != mesh) return false;
      given_up.push_back(trace);
      return true;
    })));
  }
  for (const std::uint32_t trace : given_up) ttmem_trace_released(trace);
}

void forget_recorder() {
  by_queue().clear();
  capturing.store(0);
}

extern "C" Returned ttmem_hook_trace_begun(void* queue, const std::uint32_t* trace,
                                           void* descriptor) {
  quietly([=] { rings::saved(queue); });
  const Returned result = call(ttmem_original_trace_begun, queue, trace, descriptor);
  quietly([=] { begun(queue, *trace); });
  return result;
}

extern "C" Returned ttmem_hook_trace_ended(void* queue) {
  const Returned result = call(ttmem_original_trace_ended, queue);
  quietly([=] {
    ended(queue);
    rings::restored(queue);
  });
  return result;
}

extern "C" Returned ttmem_hook_trace_replayed(void* queue, const std::uint32_t* trace,
                                              std::uint64_t blocking) {
  const std::uint32_t replayed = *trace;
  const Returned result = call(ttmem_original_trace_replayed, queue, trace, blocking);
  quietly([=] { ttmem_trace_replayed(replayed); });
  return result;
}

extern "C" void ttmem_on_trace_released(void*, const std::uint32_t* trace) noexcept {
  quietly([=] { ttmem_trace_released(*trace); });
}

}  // namespace ttmem::inject::traces
