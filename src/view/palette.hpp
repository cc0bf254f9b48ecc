// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Colours by what they mean. A cell names an ink; a palette says which colour that is on a dark or
// a light terminal, and a depth how much of it the terminal can show.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ttmem::view {

enum class Ink : std::uint8_t {
  kDefault,  // whatever the terminal has
  kText,
  kSoft,   // labels and units
  kFaint,  // what does not count now
  kFrame,
  kTitle,
  kKey,
  kGood,
  kWarn,
  kBad,
  kTrack,      // the empty part of a bar
  kSelection,  // behind the chosen row
  kDram,
  kTrace,
  kBuffers,
  kL1Small,
  kProgramL1,
  kRing,
  kFixed,
  kGap,
  kApplication,
  kFabric,
  kDispatch,
  kOnColour,  // text on a coloured cell
  kHeat0,     // the first of kHeatLevels, from cold to hot
};
inline constexpr int kHeatLevels = 24;
inline constexpr int kInks = static_cast<int>(Ink::kHeat0) + kHeatLevels;

// The ink for a part of a whole, 0 to 1.
Ink heat(double part);

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

enum class Theme : std::uint8_t { kDark, kLight };
enum class ColourDepth : std::uint8_t { kNone, k256, kTrue };

class Palette {
 public:
  explicit Palette(Theme theme);
  Rgb operator[](Ink ink) const { return colours_[static_cast<std::size_t>(ink)]; }
  std::uint8_t of_256(Ink ink) const { return of_256_[static_cast<std::size_t>(ink)]; }

 private:
  std::array<Rgb, kInks> colours_;
  std::array<std::uint8_t, kInks> of_256_;
};

// The nearest of the 256 colours that every terminal shows alike (16 to 255).
std::uint8_t nearest_of_256(Rgb colour);

// What the environment says: NO_COLOR, COLORTERM and TERM; each may be empty.
ColourDepth colour_depth(std::string_view no_color, std::string_view colorterm,
                         std::string_view term);
// COLORFGBG as some terminals set it, "15;0"; dark where nothing is said.
Theme theme_of(std::string_view colorfgbg);

}  // namespace ttmem::view
