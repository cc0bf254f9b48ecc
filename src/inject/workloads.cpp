// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The hooks around programs and workloads: compiled, joined, enqueued, launched, destroyed.

#include <exception>

#include "inject/chips.hpp"
#include "inject/failures.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/metal.hpp"
#include "inject/programs.hpp"
#include "inject/scopes.hpp"
#include "inject/unnamed_buffers.hpp"

namespace ttmem::inject {

thread_local Scopes scopes __attribute__((tls_model("initial-exec")));
std::atomic<int> dispatch_depth{0};

namespace {

class Enqueueing {
 public:
  Enqueueing(const void* queue, const void* workload, const void* caller)
      : queue_(scopes.queue), workload_(scopes.workload), caller_(scopes.caller) {
    scopes.queue = queue;
    scopes.workload = workload;
    scopes.caller = caller;
  }
  ~Enqueueing() {
    scopes.queue = queue_;
    scopes.workload = workload_;
    scopes.caller = caller_;
  }
  Enqueueing(const Enqueueing&) = delete;
  Enqueueing& operator=(const Enqueueing&) = delete;

 private:
  const void* queue_;
  const void* workload_;
  const void* caller_;
};

class LoadingBinaries {
 public:
  explicit LoadingBinaries(const void* workload) {
    scopes.binaries_of = workload;
    scopes.binary_found = false;
  }
  ~LoadingBinaries() { scopes.binaries_of = nullptr; }
  LoadingBinaries(const LoadingBinaries&) = delete;
  LoadingBinaries& operator=(const LoadingBinaries&) = delete;
};

class BuildingFabric {
 public:
  BuildingFabric() { ++scopes.fabric_depth; }
  ~BuildingFabric() { --scopes.fabric_depth; }
  BuildingFabric(const BuildingFabric&) = delete;
  BuildingFabric& operator=(const BuildingFabric&) = delete;
};

class BuildingDispatch {
 public:
  BuildingDispatch() { dispatch_depth.fetch_add(1); }
  ~BuildingDispatch() { dispatch_depth.fetch_sub(1); }
  BuildingDispatch(const BuildingDispatch&) = delete;
  BuildingDispatch& operator=(const BuildingDispatch&) = delete;
};

}  // namespace

extern "C" void ttmem_on_program_compiled(const void* program, const void* device,
                                          std::uint64_t build_key) noexcept {
  quietly([=] { programs::compiled(program, device, build_key); });
}

extern "C" void ttmem_on_program_known(const void* program, const void* device,
                                       std::uint64_t build_key) noexcept {
  quietly([=] { programs::compiled(program, device, build_key); });
}

extern "C" void ttmem_on_program_destroyed(const void* program) noexcept {
  quietly([=] { programs::destroyed(program); });
}

extern "C" void ttmem_on_program_added(const void* workload, const void* range,
                                       const void* program) noexcept {
  quietly(
      [=] { programs::joined(workload, metal::implementation(program), chips::Box::read(range)); });
}

extern "C" void ttmem_on_workload_destroyed_1(const void* workload) noexcept {
  quietly([=] { programs::workload_destroyed(workload); });
}

extern "C" void ttmem_on_workload_destroyed_2(const void* workload) noexcept {
  quietly([=] { programs::workload_destroyed(workload); });
}

extern "C" [[gnu::hot]] Returned ttmem_hook_enqueue_workload(void* queue, void* workload,
                                                             std::uint64_t blocking) {
  const void* caller = __builtin_return_address(0);
  const void* implementation = metal::implementation(workload);
  const Enqueueing scope(queue, implementation, caller);
  Returned result;
  try {
    result = call(ttmem_original_enqueue_workload, queue, workload, blocking);
  } catch (const std::exception& error) {
    unnamed_buffers::forget();
    quietly([&] { failures::enqueue(error.what(), metal::mesh_of_queue(queue)); });
    throw;
  }
  if (recorder.enabled()) {
    quietly([&] {
      programs::enqueued(implementation, queue, caller);
      unnamed_buffers::launched(caller);
    });
  }
  return result;
}

extern "C" [[gnu::hot]] Returned ttmem_hook_load_binaries(void* workload, void* queue) {
  const LoadingBinaries scope(workload);
  const Returned result = call(ttmem_original_load_binaries, workload, queue);
  if (scopes.binary_found) {
    quietly([] {
      if (const ttmem_workload_t handle = programs::current()) {
        ttmem_workload_binaries(handle, scopes.binary_allocator, scopes.binary_buffer);
      }
    });
  }
  return result;
}

extern "C" void ttmem_on_write_mesh_buffer() noexcept { unnamed_buffers::written(); }
extern "C" void ttmem_on_write_shards() noexcept { unnamed_buffers::written(); }

extern "C" void ttmem_on_slow_launch(const void* device, const void* program) noexcept {
  quietly([=] { programs::launched_slowly(metal::implementation(program), device); });
}

extern "C" void ttmem_on_slow_launch_before_081(const void* device, const void* program) noexcept {
  // Newer releases call the other one from here.
  if (ttmem_original_slow_launch) return;
  quietly([=] { programs::launched_slowly(metal::implementation(program), device); });
}

extern "C" Returned ttmem_hook_compile_fabric(void* device) {
  const BuildingFabric scope;
  return call(ttmem_original_compile_fabric, device);
}

extern "C" Returned ttmem_hook_configure_fabric(void* device) {
  const BuildingFabric scope;
  return call(ttmem_original_configure_fabric, device);
}

extern "C" Returned ttmem_hook_compile_dispatch(void* initializer) {
  const BuildingDispatch scope;
  return call(ttmem_original_compile_dispatch, initializer);
}

extern "C" Returned ttmem_hook_configure_dispatch(void* device, void* topology) {
  const BuildingDispatch scope;
  return call(ttmem_original_configure_dispatch, device, topology);
}

}  // namespace ttmem::inject
