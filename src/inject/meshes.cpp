// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The hooks around meshes: a complete mesh shows its chips and its capacity before its first
// buffer.

#include "inject/allocators.hpp"
#include "inject/chips.hpp"
#include "inject/hooks.hpp"
#include "inject/metal.hpp"
#include "inject/rings.hpp"
#include "inject/traces.hpp"

namespace ttmem::inject {

namespace {

using metal::functions;

void open_mesh(const void* mesh) {
  chips::describe_all();
  if (!functions.mesh_impl_device_ids || !functions.mesh_impl_allocator) return;
  const auto ids = functions.mesh_impl_device_ids(mesh);
  const bool shaped = functions.mesh_impl_rows && functions.mesh_impl_columns;
  const std::size_t rows = shaped ? functions.mesh_impl_rows(mesh) : 1;
  const std::size_t columns = shaped ? functions.mesh_impl_columns(mesh) : ids.size();
  const ttmem_set_t set = chips::set_of(ids, rows, columns);
  if (const void* allocator = functions.mesh_impl_allocator(mesh)) allocators::open(allocator, set);
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

}  // namespace ttmem::inject
