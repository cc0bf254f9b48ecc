// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/style.hpp"

namespace ttmem::view {
namespace {

std::string_view escape(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kStrong:
      return "\x1b[1m";
    case Tone::kFaint:
      return "\x1b[2m";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kWarn:
      return "\x1b[33m";
    case Tone::kBad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

std::string Style::paint(Tone tone, std::string_view text) const {
  if (!colour || tone == Tone::kPlain) return std::string(text);
  const bool breaks = text.ends_with('\n');
  if (breaks) text.remove_suffix(1);
  return std::string(escape(tone)) + std::string(text) + "\x1b[0m" + (breaks ? "\n" : "");
}

}  // namespace ttmem::view
