// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Colours that mean something, and only where a person looks: never in a pipe, never with
// NO_COLOR. The text says everything without them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
  bool colour = false;

  std::string paint(Tone tone, std::string_view text) const;
};

}  // namespace ttmem::view
