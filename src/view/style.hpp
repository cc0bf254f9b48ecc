// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Tones of the reports that are lines of text: looks of the cells of view/cells.hpp, in the inks
// and by the painter of the live screen. Only where a person looks: never in a pipe, never with
// NO_COLOR. The text says everything without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "view/ansi.hpp"

namespace ttmem::view {

enum class Tone : std::uint8_t {
  kPlain,
  kStrong,  // headings
  kFaint,   // what does not count any more
  kGood,    // proven: exact
  kWarn,    // look at it: nearly full, not tracked from the start
  kBad,     // wrong: a clash, a failure, a death
};

struct Style {
  Ansi ansi;         // of no depth: the words alone
  std::string past;  // " --from night.ttm": what commands that are named need to see the same
  std::size_t columns = 0;  // of the terminal; 0 = lines may be as long as they are

  std::string paint(Tone tone, std::string_view text) const;
};

}  // namespace ttmem::view
