// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/late_attach.hpp"

#include <set>

#include "inject/allocators.hpp"
#include "inject/buffers.hpp"
#include "inject/chips.hpp"
#include "inject/metal.hpp"

namespace ttmem::inject::late_attach {

namespace {

using metal::functions;

class CatchUp {
 public:
  explicit CatchUp(const void* device_manager) : manager_(device_manager) {}

  unsigned run() {
    std::vector<const void*> devices;
    for (const int id : functions.active_device_ids(manager_)) {
      const void* device = functions.active_device(manager_, id);
      chips::adopt(device, id);
      devices.push_back(device);
    }
    chips::describe_all();
    for (const void* device : devices) {
      if (functions.device_allocator) seed(functions.device_allocator(device), device);
      if (!functions.device_mesh) continue;
      if (const auto mesh = functions.device_mesh(device)) visit(topmost(mesh.get()));
    }
    return buffers_;
  }

 private:
  static const void* topmost(const void* mesh) {
    while (functions.mesh_parent) {
      const void* parent = functions.mesh_parent(mesh).get();
      if (!parent) break;
      mesh = parent;
    }
    return mesh;
  }

  void visit(const void* mesh) {
    if (!seen_.insert(mesh).second) return;
    // What `open_device` gives is a part of a mesh that was never initialized and has no allocator.
    const bool ready = !functions.mesh_is_initialized || functions.mesh_is_initialized(mesh);
    if (ready && functions.mesh_allocator) seed(functions.mesh_allocator(mesh), mesh);
    if (!functions.mesh_submeshes) return;
    for (const auto& submesh : functions.mesh_submeshes(mesh)) visit(submesh.get());
  }

  void seed(const void* allocator, const void* device) {
    if (!allocator || !seen_.insert(allocator).second) return;
    // A chip has an allocator of its own beside its mesh's; unless it is used it is nobody's.
    if (!metal::is_mesh(device) && functions.allocator_buffers(allocator).empty()) return;
    allocators::find_or_open(allocator, device);
    buffers_ += inject::seed(allocator, nullptr);
  }

  const void* manager_;
  std::set<const void*> seen_;
  unsigned buffers_ = 0;
};

}  // namespace

unsigned catch_up(const void* device_manager) {
  const bool possible = functions.active_device_ids && functions.active_device &&
                        functions.allocator_buffers && functions.buffer_address;
  return possible ? CatchUp(device_manager).run() : 0;
}

}  // namespace ttmem::inject::late_attach
