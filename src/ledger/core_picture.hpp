// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One core's L1, painted: the layers of one or several processes onto one line of bytes, so that
// every byte has one owner and all parts add up to the size of the L1 whatever the layers say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/l1_frame.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

struct L1Layer {
  Stretch kind = Stretch::kFree;
  AddressRange range;
  std::string name;
  Owner owner;
};

// What one process knows about one core.
struct CoreLayers {
  L1Frame frame;
  std::vector<L1Layer> layers;  // program L1, L1 buffers, L1_SMALL buffers, ring slices
  CoreView view;                // all that is not painted: headroom, reserved, footprint, ...
};

// `core.view` completed by what `core.layers` paint. Program L1 comes first (it is clipped
// already), then buffers, L1_SMALL, ring and fixed part; what is left is gap or free.
CoreView paint(const CoreLayers& core, bool with_map);

}  // namespace ttmem::ledger
