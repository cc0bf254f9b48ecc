// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One DRAM bank of a device from bottom to top: buffers, and the free blocks between them. Buffers
// have the same address in every bank, so one bank stands for all.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger/assemble.hpp"

namespace ttmem::ledger {

// The maps of DRAM and of the trace region, as far as an allocator of a living process covers them.
std::vector<BankMap> bank_maps(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                               const DeviceView& device);

}  // namespace ttmem::ledger
