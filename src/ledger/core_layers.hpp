// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the books of one process say about each core of a device, ready to be painted.
#pragma once

#include <vector>

#include "ledger/books.hpp"
#include "ledger/core_picture.hpp"

namespace ttmem::ledger {

// One entry a core that has an L1. With names: every buffer, circular buffer and slice by itself;
// without: only the bytes, which is much faster.
std::vector<CoreLayers> core_layers(const Books& books, DeviceIndex device, bool with_names);

}  // namespace ttmem::ledger
