// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The hooks around meshes: a complete mesh shows its chips and its capacity before its first
// buffer.

#include <exception>

#include "inject/allocators.hpp"
#include "inject/chips.hpp"
#include "inject/failures.hpp"
#include "inject/hooks.hpp"
#include "inject/metal.hpp"
#include "inject/rings.hpp"
#include "inject/traces.hpp"

namespace ttmem::inject {

namespace {

using metal::functions;

/// A MeshDeviceImpl with what it has given out; null if that cannot be known.
Allocator* allocator_of(const void* mesh) {
  if (!functions.mesh_impl_device_ids || !functions.mesh_impl_allocator) return nullptr;
  const auto ids = functions.mesh_impl_device_ids(mesh);
  const bool shaped = functions.mesh_impl_rows && functions.mesh_impl_columns;
  const std::size_t rows = shaped ? functions.mesh_impl_rows(mesh) : 1;
  const std::size_t columns = shaped ? functions.mesh_impl_columns(mesh) : ids.size();
  const ttmem_set_t set = chips::set_of(ids, rows, columns);
  const void* allocator = functions.mesh_impl_allocator(mesh);
  return allocator ? allocators::open(allocator, set) : nullptr;
}

void open_mesh(const void* mesh) {
  chips::describe_all();
  allocator_of(mesh);
}

}  // namespace

extern "C" void ttmem_on_mesh_initialized(const void* mesh) noexcept {
  quietly([=] { open_mesh(mesh); });
}

extern "C" void ttmem_on_mesh_closed(const void*, const void* mesh) noexcept {
  quietly([=] {
    rings::mesh_closed(mesh);
    traces::mesh_closed(mesh);
    chips::forget_mesh(mesh);
  });
}

extern "C" Returned ttmem_hook_mesh_reshaped(void* mesh, const void* shape) {
  const Returned result = call(ttmem_original_mesh_reshaped, mesh, shape);
  quietly([] { chips::forget_meshes(); });
  return result;
}

extern "C" Returned ttmem_hook_trace_kept(void* mesh, std::uint64_t queue,
                                          const std::uint32_t* trace) {
  try {
    return call(ttmem_original_trace_kept, mesh, queue, trace);
  } catch (const std::exception& error) {
    quietly([&] { failures::trace_kept(error.what(), allocator_of(mesh)); });
    throw;
  }
}

}  // namespace ttmem::inject
