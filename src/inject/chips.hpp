// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From the runtime's device objects to the devices and device sets of the recorder. An IDevice is
// one chip or a mesh of chips; holdings name a set, so both become sets. Chips are told to the
// recorder when first something is put on them, or their mesh is complete: while a chip is being
// opened the runtime holds locks that its own answers would need.
#pragma once

#include <cstdint>
#include <vector>

#include "inject/metal.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::inject::chips {

/// A box of mesh coordinates, both ends included; no dimensions = the whole mesh.
struct Box {
  static constexpr int kMaxDimensions = 4;
  int dimensions = 0;
  std::uint32_t start[kMaxDimensions] = {};
  std::uint32_t end[kMaxDimensions] = {};

  static Box read(const void* mesh_coordinate_range);
};

/// The chips of an IDevice. 0 = not known.
ttmem_set_t set_of(const void* device);
/// The chips of a mesh that lie in a box.
ttmem_set_t set_of(const void* mesh, const Box& box);
/// A set from chip numbers in mesh order.
ttmem_set_t set_of(const std::vector<int>& metal_ids, std::size_t rows, std::size_t columns);

/// Whether every chip of the one is in the other.
bool covers(ttmem_set_t outer, ttmem_set_t inner);

/// A chip that was open before the hooks were bound.
void adopt(const void* device, int metal_id);

/// Tells the recorder about every chip that is open and not yet known.
void describe_all();

/// A mesh was closed, or one of them was reshaped: what was known about them is void.
void forget_mesh(const void* mesh);
void forget_meshes();

/// The ring of each core type, as the runtime's ring manager was told.
void ring_seen(std::uint32_t core_type, std::uint32_t base, std::uint32_t bytes);

/// After a fork: the host's objects live on, the recorder's ids do not.
void forget_recorder();

}  // namespace ttmem::inject::chips
