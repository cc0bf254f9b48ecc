// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/palette.hpp"

#include <algorithm>
#include <cmath>

namespace ttmem::view {
namespace {

constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8 & 0xFF),
          static_cast<std::uint8_t>(hex & 0xFF)};
}

constexpr std::size_t kNamed = static_cast<std::size_t>(Ink::kHeat0);
using Named = std::array<std::uint32_t, kNamed>;
using Ramp = std::array<std::uint32_t, 5>;

// In the order of Ink.
constexpr Named kDarkInks = {0,        0xD6DCE6, 0x9AA5B5, 0x657080, 0x46505F, 0x7FD1E6,
                             0xE6C07B, 0x8CC570, 0xE5B567, 0xEF6B73, 0x2B323D, 0x34435A,
                             0x5B9BD5, 0x8A7FD6, 0x4FB3A5, 0x8FD694, 0xE39A4F, 0x9A6FC4,
                             0x56606E, 0x3A414D, 0xE39A4F, 0x5FB0C9, 0xC586C0, 0x14181E};
constexpr Named kLightInks = {0,        0x24292F, 0x57606A, 0x8C959F, 0xB3BBC5, 0x0A6C86,
                              0x8A5A00, 0x2E7D32, 0x9A6700, 0xC62834, 0xDDE2E9, 0xCFE2F7,
                              0x2F6FB5, 0x5E4FC0, 0x14806F, 0x4C9A52, 0xC2691A, 0x7B45AE,
                              0x98A1AC, 0xC6CCD4, 0xC2691A, 0x1C7F9C, 0xA3459B, 0xFFFFFF};
constexpr Ramp kDarkRamp = {0x2E4A5E, 0x3C8C8C, 0x8DBB5E, 0xE3AE4B, 0xE8595F};
constexpr Ramp kLightRamp = {0x7FA6C4, 0x2F8F8F, 0x5D8F2B, 0xB97708, 0xC4303B};

std::uint8_t between(std::uint8_t from, std::uint8_t to, double part) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * part));
}

Rgb on_ramp(const Ramp& ramp, double part) {
  const double at = part * static_cast<double>(ramp.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(at), ramp.size() - 2);
  const double rest = at - static_cast<double>(index);
  const Rgb from = rgb(ramp[index]), to = rgb(ramp[index + 1]);
  return {between(from.red, to.red, rest), between(from.green, to.green, rest),
          between(from.blue, to.blue, rest)};
}

int distance(Rgb a, Rgb b) {
  const int red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;
  return red * red * 3 + green * green * 4 + blue * blue * 2;
}

Rgb colour_of_256(int index) {
  constexpr std::array<std::uint8_t, 6> kSteps = {0, 95, 135, 175, 215, 255};
  if (index >= 232) {
    const auto grey = static_cast<std::uint8_t>(8 + 10 * (index - 232));
    return {grey, grey, grey};
  }
  const auto cube = static_cast<std::size_t>(index - 16);
  return {kSteps[cube / 36], kSteps[cube / 6 % 6], kSteps[cube % 6]};
}

}  // namespace

Ink heat(double part) {
  const double bounded = std::clamp(part, 0.0, 1.0);
  const int level = std::min(static_cast<int>(bounded * kHeatLevels), kHeatLevels - 1);
  return static_cast<Ink>(static_cast<int>(Ink::kHeat0) + level);
}

Palette::Palette(Theme theme) {
  const Named& named = theme == Theme::kDark ? kDarkInks : kLightInks;
  const Ramp& ramp = theme == Theme::kDark ? kDarkRamp : kLightRamp;
  std::transform(named.begin(), named.end(), colours_.begin(), rgb);
  for (int level = 0; level < kHeatLevels; ++level) {
    colours_[kNamed + static_cast<std::size_t>(level)] =
        on_ramp(ramp, static_cast<double>(level) / (kHeatLevels - 1));
  }
  std::transform(colours_.begin(), colours_.end(), of_256_.begin(), nearest_of_256);
}

std::uint8_t nearest_of_256(Rgb colour) {
  int best = 16;
  for (int index = 17; index < 256; ++index) {
    if (distance(colour_of_256(index), colour) < distance(colour_of_256(best), colour)) {
      best = index;
    }
  }
  return static_cast<std::uint8_t>(best);
}

ColourDepth colour_depth(std::string_view no_color, std::string_view colorterm,
                         std::string_view term) {
  if (!no_color.empty() || term == "dumb" || term.ends_with("-mono")) return ColourDepth::kNone;
  const bool direct = term.ends_with("-direct") || term == "xterm-kitty" ||
                      term == "xterm-ghostty" || term == "alacritty" || term == "foot";
  if (colorterm == "truecolor" || colorterm == "24bit" || direct) return ColourDepth::kTrue;
  return ColourDepth::k256;
}

Theme theme_of(std::string_view colorfgbg) {
  const std::size_t separator = colorfgbg.rfind(';');
  if (separator == std::string_view::npos) return Theme::kDark;
  const std::string_view back = colorfgbg.substr(separator + 1);
  return back == "7" || back == "15" ? Theme::kLight : Theme::kDark;
}

}  // namespace ttmem::view
