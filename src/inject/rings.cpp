// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/rings.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"
#include "inject/programs.hpp"
#include "inject/scopes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::inject::rings {

namespace {

struct Manager {
  std::vector<ttmem_ring> rings;  ///< of the core types; the runtime's pseudo rings are left out
  bool in_use = false;            ///< rings added from now on are a new beginning
  const void* queue = nullptr;
  ttmem_ring_manager_t recorded = 0;
};

/// By WorkerConfigBufferMgr*; guarded by the state lock.
std::unordered_map<const void*, Manager>& managers() {
  static auto& map = *new std::unordered_map<const void*, Manager>;
  return map;
}

void added(const void* key, std::uint32_t base, std::uint32_t bytes) {
  std::uint32_t core_type = 0;
  {
    const std::lock_guard lock(locks().state);
    Manager& manager = managers()[key];
    if (manager.in_use) {
      manager.rings.clear();
      manager.in_use = false;
      if (manager.recorded) ttmem_ring_reset(manager.recorded);
    }
    if (base == 0) return;
    core_type = static_cast<std::uint32_t>(manager.rings.size());
    manager.rings.push_back({core_type, base, bytes});
  }
  chips::ring_seen(core_type, base, bytes);
}

std::uint32_t managers_of(const void* queue) {
  std::uint32_t count = 0;
  for (const auto& [key, manager] : managers()) count += manager.queue == queue;
  return count;
}

struct Use {
  ttmem_ring_manager_t recorded = 0;
  std::uint32_t rings = 0;
};

/// Tells the recorder of a manager at its first use inside an enqueue.
void open(const void* key, ttmem_set_t set) {
  const std::lock_guard lock(locks().state);
  Manager& manager = managers()[key];
  if (manager.recorded || !set || manager.rings.empty()) return;
  manager.recorded = ttmem_ring_manager_opened(set, metal::number_of_queue(scopes.queue),
                                               managers_of(scopes.queue), manager.rings.data(),
                                               static_cast<std::uint32_t>(manager.rings.size()), 1);
  manager.queue = scopes.queue;
}

Use find(const void* key) {
  const std::lock_guard lock(locks().state);
  const auto found = managers().find(key);
  if (found == managers().end()) return {};
  found->second.in_use = true;
  return {found->second.recorded, static_cast<std::uint32_t>(found->second.rings.size())};
}

Use used(const void* key) {
  const Use use = find(key);
  if (use.recorded || !use.rings || !scopes.queue) return use;
  open(key, chips::set_of(metal::mesh_of_queue(scopes.queue)));
  return find(key);
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

void forget_recorder() {
  for (auto& [key, manager] : managers()) manager.recorded = 0;
}

extern "C" void ttmem_on_ring_added(void* manager, std::uint32_t base,
                                    std::uint32_t bytes) noexcept {
  quietly([=] { added(manager, base, bytes); });
}

extern "C" void ttmem_on_ring_reserved(void* manager,
                                       const std::vector<std::uint32_t>* sizes) noexcept {
  quietly([=] {
    const Use use = used(manager);
    if (!use.recorded || sizes->size() < use.rings) return;
    ttmem_ring_reserved(use.recorded, programs::current(), sizes->data(), use.rings);
  });
}

extern "C" void ttmem_on_ring_freed(void* manager, std::uint32_t sync) noexcept {
  quietly([=] {
    if (const auto recorded = used(manager).recorded) ttmem_ring_freed(recorded, sync);
  });
}

extern "C" void ttmem_on_ring_taken(void* manager, std::uint32_t sync) noexcept {
  quietly([=] {
    if (const auto recorded = used(manager).recorded) ttmem_ring_taken(recorded, sync);
  });
}

extern "C" void ttmem_on_ring_filled(void* manager, std::uint32_t sync) noexcept {
  quietly([=] {
    if (const auto recorded = used(manager).recorded) ttmem_ring_filled(recorded, sync);
  });
}

}  // namespace ttmem::inject::rings
