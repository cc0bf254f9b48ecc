// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Amounts as pictures: bars of several parts, maps, sparklines and charts. A bar is exact to an
// eighth of a cell, and a part of it that is not zero is always seen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "view/cells.hpp"

namespace ttmem::view {

struct BarPart {
  Ink ink = Ink::kDefault;
  std::uint64_t amount = 0;
  char32_t texture = U'█';  // stands for the ink where there are no colours
};

// How many of `units` each amount gets, out of `whole`: in proportion, at least 1 unless it is 0,
// and never more than `units` together. The sum is exact when the amounts fill the whole.
std::vector<int> shares(std::span<const std::uint64_t> amounts, std::uint64_t whole, int units);

// One row from x to x + columns; what the parts leave of `whole` is the empty track.
void draw_bar(Grid& grid, int x, int y, int columns, std::span<const BarPart> parts,
              std::uint64_t whole, bool colours);

// Parts by their place instead, for maps of addresses: each eighth of a cell shows what covers most
// of it, however many parts there are. A strip lies in a row, a tower stands on its first part.
void draw_strip(Grid& grid, int x, int y, int columns, std::span<const BarPart> parts,
                std::uint64_t whole, bool colours);
void draw_tower(Grid& grid, const Rect& place, std::span<const BarPart> parts, std::uint64_t whole,
                bool colours);

// Oldest first; empty samples stay blank. `top` is the height of a full column.
using Samples = std::span<const std::optional<std::uint64_t>>;
void draw_sparkline(Grid& grid, int x, int y, Samples samples, std::uint64_t top, Look look);
// Several rows, two samples per column.
void draw_chart(Grid& grid, const Rect& place, Samples samples, std::uint64_t top, Look look);

}  // namespace ttmem::view
