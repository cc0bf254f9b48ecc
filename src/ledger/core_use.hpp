// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How much of each worker's L1 is in use, and nothing else: cheap enough to ask for every chip of
// the host again and again.
#pragma once

#include <vector>

#include "ledger/books.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// By position in the device's grid, workers only; none if its cores are not known.
std::vector<CoreUse> core_use(const Books& books, DeviceIndex device);

}  // namespace ttmem::ledger
