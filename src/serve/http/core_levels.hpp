// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How full every core of the host is, coarsely, for whoever draws all chips at once: one character
// a core, row by row, and only of devices where one changed. docs/http.md has the characters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collect/collector.hpp"

namespace ttmem::serve::http {

// "A" for nothing, then by 62nds of what can be used; "." where no worker is, or its L1 not known.
char level_of(const ledger::CoreUse& core);

class CoreLevels {
 public:
  // A message with every device that differs from the last call; "" if none does.
  std::string step(const collect::Collector& collector);
  // A message with every device as of the last call; "" if there is none.
  std::string all(const ledger::Snapshot& frame) const;
  void forget() { devices_.clear(); }

 private:
  struct Grid {
    std::uint32_t columns = 0, rows = 0;
    std::string levels;
    bool operator==(const Grid&) const = default;
  };
  using Grids = std::map<std::uint32_t, Grid>;  // by id of the device

  static Grid grid_of(const std::vector<ledger::CoreUse>& cores);
  static std::string message(const Grids& grids, const ledger::Snapshot& frame);

  Grids devices_;
};

}  // namespace ttmem::serve::http
