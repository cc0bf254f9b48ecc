// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What must hold in every snapshot, whatever was recorded: which figures add up over processes and
// over cores, and what can never be larger than what. Tests of every room use it.
#pragma once

#include <string>
#include <vector>

#include "ledger/assemble.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// "" if all sums hold, else the first one that does not, in words.
std::string check_sums(const Snapshot& snapshot);
// The same for the cores of one process on one device. `exact`: every kernel and buffer names cores
// that the device has, and no two buffers overlap, so that sums over cores equal the figures.
std::string check_cores(const DeviceFigures& figures, const std::vector<CoreView>& cores,
                        bool exact);
// Both, for every process and for every device as a whole.
std::string check_everything(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                             bool exact);

}  // namespace ttmem::ledger
