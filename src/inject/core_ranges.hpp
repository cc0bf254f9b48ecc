// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Core sets as the recorder wants them: few ranges with small coordinates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inject/metal.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::inject {

/// Covers exactly these cores with rectangles: runs along a row, then equal runs of adjacent rows.
std::vector<ttmem_core_range> cover(std::vector<metal::CoreCoord> cores);

ttmem_cores_t intern(std::uint32_t core_type, std::span<const metal::CoreRange> ranges);
ttmem_cores_t intern(std::uint32_t core_type, const metal::OrderedCores& cores);

/// Sharded DRAM buffers have "cores" whose x is the number of the bank.
ttmem_cores_t intern_banks(std::span<const metal::CoreRange> ranges);

}  // namespace ttmem::inject
