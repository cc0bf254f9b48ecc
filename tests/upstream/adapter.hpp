// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What ttmem would be inside a TT-Metal that has the proposed interface: ten callbacks, translated
// into calls of ttmem.h. No name of the runtime is used but those of memory_observer.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "memory_observer.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::upstream {

namespace metal = tt::tt_metal::experimental;
using metal::ObservedId;

class Adapter : public metal::MemoryObserver {
 public:
  void device_opened(const metal::ObservedDevice& device) noexcept override;
  void allocator_changed(const metal::ObservedAllocator& allocator) noexcept override;
  void allocator_cleared(ObservedId allocator) noexcept override;
  void buffer_allocated(const metal::ObservedBuffer& buffer) noexcept override;
  void buffer_freed(ObservedId allocator, metal::ObservedSpace space,
                    ObservedId id) noexcept override;
  void program_placed(const metal::ObservedProgram& program) noexcept override;
  void launched(const metal::ObservedLaunch& launch) noexcept override;
  void trace_changed(const metal::ObservedTrace& trace) noexcept override;
  void failed(const metal::ObservedFailure& failure) noexcept override;
  void ended(metal::ObservedThing thing, ObservedId id) noexcept override;

 private:
  struct Queue {
    ttmem_ring_manager_t ring = 0;
    ObservedId trace = 0;  ///< that it captures
  };
  /// What a launch is recorded under: of a workload, or of a program without one.
  struct Handle {
    ttmem_workload_t recorded = 0;
    ttmem_allocator_t binaries_in = 0;
    ObservedId binaries = 0;
  };

  ttmem_set_t set_of(std::span<const int> chips, std::uint32_t rows = 1, std::uint32_t columns = 0);
  ttmem_workload_t handle_of(const metal::ObservedLaunch& launch, ttmem_set_t set);
  void take_ring(const metal::ObservedLaunch& launch, ttmem_set_t set, ttmem_workload_t workload);
  void end_queue(ObservedId queue);

  std::mutex lock_;
  std::map<int, ttmem_device_t> devices_;
  std::map<ObservedId, ttmem_allocator_t> allocators_;
  std::map<ObservedId, Handle> workloads_, programs_;
  std::map<ObservedId, Queue> queues_;
};

}  // namespace ttmem::upstream
