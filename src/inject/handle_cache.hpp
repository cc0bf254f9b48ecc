// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Recorder handles of workloads that were launched before, for the way of a cached dispatch: no
// lock, one place a workload, and a miss where two share a place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

class HandleCache {
 public:
  /// 0 = not here.
  ttmem_workload_t find(const void* workload) const {
    const Place& place = places_[index(workload)];
    const void* before = place.key.load(std::memory_order_acquire);
    const ttmem_workload_t handle = place.handle.load(std::memory_order_acquire);
    // A writer empties the key first: if the handle is another's, the key is not ours any more.
    const void* after = place.key.load(std::memory_order_acquire);
    return before == workload && after == workload ? handle : 0;
  }

  /// Writers take turns: the state lock must be held.
  void put(const void* workload, ttmem_workload_t handle) {
    Place& place = places_[index(workload)];
    place.key.store(nullptr, std::memory_order_release);
    place.handle.store(handle, std::memory_order_release);
    place.key.store(workload, std::memory_order_release);
  }

  void drop(const void* workload) {
    Place& place = places_[index(workload)];
    if (place.key.load(std::memory_order_relaxed) == workload) {
      place.key.store(nullptr, std::memory_order_release);
    }
  }

  void clear() {
    for (Place& place : places_) place.key.store(nullptr, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kPlaces = 4096;
  struct Place {
    std::atomic<const void*> key{nullptr};
    std::atomic<ttmem_workload_t> handle{0};
  };

  static std::size_t index(const void* workload) {
    return (reinterpret_cast<std::uintptr_t>(workload) >> 4) * 0x9E3779B97F4A7C15u >> 52;
  }

  Place places_[kPlaces];
};

}  // namespace ttmem::inject
