// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Everything that the ledger of one process keeps, in one place, for the files that turn it into
// figures and views. Nothing outside this folder includes it.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "ledger/buffer_book.hpp"
#include "ledger/catalog.hpp"
#include "ledger/core_grid.hpp"
#include "ledger/l1_frame.hpp"
#include "ledger/program_book.hpp"
#include "ledger/residency.hpp"
#include "ledger/slot_table.hpp"

namespace ttmem::ledger {

struct Books {
  Catalog catalog;
  SlotTable slots;
  BufferBook buffers{catalog};
  ProgramBook programs{catalog, slots};
  CoreGrids grids{catalog};
  L1Frames frames{catalog, buffers, grids};
  Residency residency{catalog, slots, programs, grids};
  std::map<std::uint32_t, RingManagerRecord> ring_managers;
  std::unordered_map<DeviceIndex, DeviceCounters> counters;

  Books() = default;
  Books(const Books&) = delete;  // the parts refer to each other
  Books& operator=(const Books&) = delete;
};

}  // namespace ttmem::ledger
