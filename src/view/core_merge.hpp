// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One core as several processes fill it. Each process knows only its own part; on the chip they lie
// over each other. Every byte goes to one kind: a buffer wins over program L1, and both over what
// nobody uses, so the parts still add up to the L1.
#pragma once

#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::view {

// Each inner list is one process's view of the same device, with maps. One process: unchanged.
std::vector<ledger::CoreView> merged_cores(std::vector<std::vector<ledger::CoreView>> views);

}  // namespace ttmem::view
