// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/style.hpp"

namespace ttmem::view {
namespace {

Look look_of(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return {};
    case Tone::kStrong:
      return Look{}.bold();
    case Tone::kFaint:
      return {Ink::kFaint};
    case Tone::kGood:
      return {Ink::kGood};
    case Tone::kWarn:
      return {Ink::kWarn};
    case Tone::kBad:
      return {Ink::kBad};
  }
  return {};
}

}  // namespace

std::string Style::paint(Tone tone, std::string_view text) const {
  if (ansi.depth == ColourDepth::kNone || tone == Tone::kPlain) return std::string(text);
  const bool breaks = text.ends_with('\n');
  if (breaks) text.remove_suffix(1);
  return ansi.painted(text, look_of(tone)) + (breaks ? "\n" : "");
}

}  // namespace ttmem::view
