// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The cores of a device in the chip's shape: by their place on the network where every core's is
// known, else workers in their logical grid with ethernet above and dispatch below.
#pragma once

#include <string>
#include <vector>

#include "ledger/snapshot.hpp"
#include "top/state.hpp"

namespace ttmem::top {

struct PlacedCore {
  int column = 0, row = 0;
  const ledger::CoreView* core = nullptr;
};

struct Chip {
  std::vector<PlacedCore> cores;
  int columns = 0, rows = 0;
  bool by_network = false;

  const PlacedCore* at(int column, int row) const;
  // The core at the place, or else the nearest one; at -1,-1 the first worker; null if there are
  // none.
  const PlacedCore* nearest(int column, int row) const;
};

Chip place_cores(const std::vector<ledger::CoreView>& cores);

// How much of the figure a core has: 0 to 1 for the colour, and a text of at most three columns.
struct CoreReading {
  double part = 0;
  std::string text;
  bool clash = false;
};
CoreReading read_core(const ledger::CoreView& core, CoreFigure figure,
                      std::uint64_t largest_kernel);

std::string_view title(CoreFigure figure);

}  // namespace ttmem::top
