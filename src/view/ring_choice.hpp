// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A device has a ring a command queue, sub-device and core type. Where there is room for one only,
// it is the worker ring that is fullest.
#pragma once

#include <vector>

#include "ledger/figures.hpp"

namespace ttmem::view {

// Null if no worker ring is known.
const ledger::RingFigures* fullest_worker_ring(const std::vector<ledger::RingFigures>& rings);

}  // namespace ttmem::view
