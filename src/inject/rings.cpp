// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/rings.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"
#include "inject/programs.hpp"
#include "inject/scopes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::inject::rings {

namespace {

/// The runtime calls one manager from one thread at a time, so its own fields need no lock. None is
/// ever deleted. What each launch needs is in one cache line.
struct alignas(64) Manager {
  const void* key = nullptr;  ///< WorkerConfigBufferMgr*
  ttmem_ring_manager_t recorded = 0;
  bool in_use = false;      ///< rings added from now on are a new beginning
  bool is_planned = false;  ///< `launch` holds the last plan; a launch is planned several times
  std::uint32_t ring_count = 0;
  ttmem_ring_launch launch = {};
  const void* queue = nullptr;              ///< that it is recorded for
  const void* mesh = nullptr;               ///< of that queue
  ttmem_ring rings[TTMEM_CORE_TYPES] = {};  ///< the runtime's pseudo rings are left out
};

/// Guarded by the state lock.
std::unordered_map<const void*, Manager>& managers() {
  static auto& map = *new std::unordered_map<const void*, Manager>;
  return map;
}

/// The manager that was used last, of those that share a place: found without a lock. Programs with
/// one queue find theirs in `latest`, without a look at the places.
constinit Manager nobody;
TTMEM_HOT_DATA constinit std::atomic<Manager*> latest{&nobody};

std::atomic<Manager*>& recent(const void* key) {
  static std::atomic<Manager*> places[64];
  return places[(reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9E3779B97F4A7C15u >> 58];
}

/// Apart, so that the usual way saves no registers for it.
[[gnu::cold, gnu::noinline]] Manager* find_among_all(const void* key) {
  const std::lock_guard lock(locks().state);
  const auto found = managers().find(key);
  if (found == managers().end()) return nullptr;
  recent(key).store(&found->second, std::memory_order_release);
  latest.store(&found->second, std::memory_order_release);
  return &found->second;
}

void added(const void* key, std::uint32_t base, std::uint32_t bytes) {
  std::uint32_t core_type = 0;
  {
    const std::lock_guard lock(locks().state);
    Manager& manager = managers()[key];
    manager.key = key;
    if (manager.in_use) {
      manager.ring_count = 0;
      manager.in_use = false;
      manager.is_planned = false;
      manager.launch.has_freed = 0;
      if (manager.recorded) ttmem_ring_reset(manager.recorded);
    }
    if (base == 0 || manager.ring_count == TTMEM_CORE_TYPES) return;
    core_type = manager.ring_count++;
    manager.rings[core_type] = {core_type, base, bytes};
  }
  chips::ring_seen(core_type, base, bytes);
}

std::uint32_t managers_of(const void* queue) {
  std::uint32_t count = 0;
  for (const auto& [key, manager] : managers()) count += manager.queue == queue;
  return count;
}

/// Tells the recorder of a manager at its first use inside an enqueue.
[[gnu::cold, gnu::noinline]] void open(Manager& manager) {
  const void* mesh = metal::mesh_of_queue(scopes.queue);
  const ttmem_set_t set = chips::set_of(mesh);
  const std::lock_guard lock(locks().state);
  if (!set || manager.ring_count == 0) return;
  manager.recorded =
      ttmem_ring_manager_opened(set, metal::number_of_queue(scopes.queue),
                                managers_of(scopes.queue), manager.rings, manager.ring_count, 1);
  manager.queue = scopes.queue;
  manager.mesh = mesh;
}

[[gnu::cold, gnu::noinline]] Manager* used_first(const void* key) {
  Manager* manager = find_among_all(key);
  if (!manager) return nullptr;
  manager->in_use = true;
  if (!manager->recorded && scopes.queue) open(*manager);
  return manager->recorded ? manager : nullptr;
}

/// The manager of a call, known to the recorder; null if it is not.
[[gnu::always_inline]] inline Manager* used(const void* key) {
  Manager* manager = latest.load(std::memory_order_acquire);
  if (manager->key != key) manager = recent(key).load(std::memory_order_acquire);
  if (!manager || manager->key != key || !manager->recorded) [[unlikely]] {
    return used_first(key);
  }
  manager->in_use = true;
  return manager;
}

/// Its rings hold nothing any more; a new mesh may get the same place in memory.
void close(Manager& manager) {
  if (manager.recorded) ttmem_ring_manager_closed(manager.recorded);
  manager.recorded = 0;
  manager.queue = nullptr;
  manager.mesh = nullptr;
  manager.is_planned = false;
  manager.launch.has_freed = 0;
}

/// Tells the recorder what was freed for a launch that was planned and not made.
[[gnu::cold, gnu::noinline]] void give_up_plan(Manager& manager) {
  manager.is_planned = false;
  if (manager.launch.has_freed) ttmem_ring_freed(manager.recorded, manager.launch.freed);
  manager.launch.has_freed = 0;
}

template <typename Action>
void each_of(const void* queue, Action&& action) {
  const std::lock_guard lock(locks().state);
  for (const auto& [key, manager] : managers()) {
    if (manager.queue == queue && manager.recorded) action(manager.recorded);
  }
}

}  // namespace

void saved(const void* queue) { each_of(queue, ttmem_ring_saved); }

void restored(const void* queue) { each_of(queue, ttmem_ring_restored); }

void mesh_closed(const void* mesh) {
  const std::lock_guard lock(locks().state);
  for (auto& [key, manager] : managers()) {
    if (manager.mesh == mesh) close(manager);
  }
}

void forget_recorder() {
  for (auto& [key, manager] : managers()) {
    manager.recorded = 0;
    manager.is_planned = false;
    manager.launch.has_freed = 0;
  }
}

extern "C" void ttmem_on_ring_added(void* manager, std::uint32_t base,
                                    std::uint32_t bytes) noexcept {
  quietly([=] { added(manager, base, bytes); });
}

extern "C" [[gnu::hot]] void ttmem_on_ring_reserved(
    void* key, const std::vector<std::uint32_t>* sizes) noexcept {
  quietly([=] {
    Manager* manager = used(key);
    if (!manager || sizes->size() < manager->ring_count) return;
    if (manager->launch.has_freed) give_up_plan(*manager);
    // Word by word: they are too few for a call of memcpy.
    const std::uint32_t* from = sizes->data();
    const std::uint32_t count = manager->ring_count;
    for (std::uint32_t i = 0; i < count; ++i) {
      __atomic_store_n(&manager->launch.bytes[i], from[i], __ATOMIC_RELAXED);
    }
    manager->is_planned = true;
  });
}

extern "C" [[gnu::hot]] void ttmem_on_ring_freed(void* key, std::uint32_t sync) noexcept {
  quietly([=] {
    Manager* manager = used(key);
    if (!manager) return;
    if (!manager->is_planned) return ttmem_ring_freed(manager->recorded, sync);
    ttmem_ring_launch& launch = manager->launch;
    launch.freed = launch.has_freed ? std::max(launch.freed, sync) : sync;
    launch.has_freed = 1;
  });
}

extern "C" [[gnu::hot]] void ttmem_on_ring_taken(void* key, std::uint32_t sync) noexcept {
  quietly([=] {
    Manager* manager = used(key);
    if (!manager || !manager->is_planned) return;
    manager->launch.workload = programs::current();
    manager->launch.sync = sync;
    recorder.ring_launched(manager->recorded, &manager->launch);
    manager->is_planned = false;
    manager->launch.has_freed = 0;
  });
}

extern "C" void ttmem_on_ring_filled(void* key, std::uint32_t sync) noexcept {
  quietly([=] {
    Manager* manager = used(key);
    if (!manager) return;
    give_up_plan(*manager);
    ttmem_ring_filled(manager->recorded, sync);
  });
}

}  // namespace ttmem::inject::rings
