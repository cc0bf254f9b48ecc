// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the fake runtime tells a MemoryObserver (docs/upstream.md), at the places where the real one
// would. Without an observer nothing is told.
#pragma once

#include <string>
#include <vector>

#include "fake_metal.hpp"
#include "memory_observer.hpp"

namespace fake::observed {

namespace metal = tt::tt_metal;
namespace experimental = tt::tt_metal::experimental;
using experimental::ObservedId;

void opened(const metal::Device& device, int chip);
void allocated(metal::AllocatorImpl& allocator, const metal::Buffer& buffer, std::uint64_t block,
               std::uint64_t address);
void freed(const metal::AllocatorImpl& allocator, const metal::Buffer& buffer);
void cleared(const metal::AllocatorImpl& allocator);
void resized(metal::AllocatorImpl& allocator);
void out_of_memory(metal::AllocatorImpl& allocator, const metal::Buffer& buffer,
                   const char* message);
void ended(experimental::ObservedThing thing, ObservedId id);
template <typename T>
ObservedId id_of(const T* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

void placed(const metal::detail::ProgramImpl& program, const metal::IDevice* device,
            const std::vector<experimental::ObservedRange>& ranges);
void launched_slowly(const metal::detail::ProgramImpl& program, const metal::IDevice& device);

/// One launch of a queue; the ring is told only where it was used.
struct Launch {
  const metal::distributed::MeshWorkload& workload;
  const metal::distributed::MeshCommandQueue& queue;
  ObservedId captured_by = 0;
  bool has_ring = false;
  bool waited = false;
  std::uint32_t freed = 0;
  std::uint32_t completed = 0;
};
void launched(const Launch& launch);
void traced(experimental::ObservedTraceStep step, ObservedId trace,
            const metal::distributed::MeshCommandQueue* queue, std::uint32_t completed);
void ring_too_small(const metal::distributed::MeshCommandQueue& queue, const char* message,
                    std::uint64_t bytes);
void trace_too_large(const metal::distributed::MeshDevice& mesh, const char* message);

/// Programs that are compiled while it exists belong to the system.
class Building {
 public:
  explicit Building(experimental::ObservedOwner owner);
  ~Building();
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;
};

/// The buffer that is allocated while it exists holds the kernels of this workload.
class LoadingBinaries {
 public:
  explicit LoadingBinaries(ObservedId workload);
  ~LoadingBinaries();
  LoadingBinaries(const LoadingBinaries&) = delete;
  LoadingBinaries& operator=(const LoadingBinaries&) = delete;
};

}  // namespace fake::observed
