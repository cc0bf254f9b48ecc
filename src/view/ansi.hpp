// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A grid of cells as bytes for a terminal or a file. Written with the control sequences that every
// terminal of today understands, so that nothing has to be installed for a terminal to be known.
#pragma once

#include <string>
#include <string_view>

#include "view/cells.hpp"

namespace ttmem::view {

// How a terminal shows inks.
struct Ansi {
  Palette palette{Theme::kDark};
  ColourDepth depth = ColourDepth::kNone;
  bool ascii = false;  // the terminal's character set is not UTF-8

  // The sequence that changes from any look to this one.
  std::string sequence(const Look& look) const;
  // Text in this look, and the terminal's own look after it.
  std::string painted(std::string_view text, const Look& look) const;
};

// The characters alone, one line per row, without trailing spaces.
std::string plain_text(const Grid& grid);
// The same with looks, each line ending in the terminal's own look.
std::string styled_text(const Grid& grid, const Ansi& ansi);
// What a terminal that shows `before` must be sent to show `after`. Grids of different sizes: the
// whole screen is drawn again. Empty if nothing changed.
std::string difference(const Grid& before, const Grid& after, const Ansi& ansi);

}  // namespace ttmem::view
