// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/cells.hpp"

#include <wchar.h>

#include <clocale>

#include <gtest/gtest.h>

#include "view/ansi.hpp"
#include "view/characters.hpp"

namespace ttmem::view {
namespace {

std::string row(const Grid& grid, int y = 0) {
  const std::string all = plain_text(grid);
  std::size_t begin = 0;
  for (int i = 0; i < y; ++i) begin = all.find('\n', begin) + 1;
  return all.substr(begin, all.find('\n', begin) - begin);
}

TEST(Cells, TextIsCutWithAnEllipsisAtItsWidth) {
  Grid grid(20, 1);
  EXPECT_EQ(grid.text(0, 0, "matmul_large", {}, 6), 6);
  EXPECT_EQ(row(grid), "matmu…");
}

TEST(Cells, TextThatFitsIsNotCut) {
  Grid grid(20, 1);
  EXPECT_EQ(grid.text(0, 0, "matmul", {}, 6), 6);
  EXPECT_EQ(row(grid), "matmul");
}

TEST(Cells, WideCharactersTakeTwoColumnsAndAreNeverHalved) {
  Grid grid(10, 1);
  EXPECT_EQ(grid.text(0, 0, "推論サーバー", {}, 7), 7);
  EXPECT_EQ(row(grid), "推論サ…");
  grid.put(1, 0, U'x', {});  // over the right half of the first
  EXPECT_EQ(row(grid), " x論サ…");
  grid.text(9, 0, "推", {});  // no room for its right half
  EXPECT_EQ(grid.at(9, 0).character, U' ');
}

TEST(Cells, CombiningMarksStayOnTheirCharacter) {
  Grid grid(10, 1);
  EXPECT_EQ(grid.text(0, 0, "e\xCC\x81t", {}), 2);
  EXPECT_EQ(row(grid), "e\xCC\x81t");
}

TEST(Cells, CharactersThatCouldMoveTheCursorOrHideAreReplaced) {
  Grid grid(40, 1);
  grid.text(0, 0, "a\x1b[2Jb\n\xFF\xE2\x80\xAEz", {});
  EXPECT_EQ(row(grid), "a\uFFFD[2Jb\uFFFD\uFFFD\uFFFDz");
}

TEST(Cells, DrawingOutsideIsCutOff) {
  Grid grid(4, 2);
  grid.text(-2, 0, "abcdefgh", {});
  grid.fill({-1, -1, 10, 2}, U'#', {});
  grid.put(4, 0, U'x', {});
  grid.put(0, 2, U'x', {});
  EXPECT_EQ(plain_text(grid), "####\n\n");
}

TEST(Cells, WidthsAreThoseOfTheSystem) {
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) GTEST_SKIP() << "no locale C.UTF-8";
  int different = 0;
  for (char32_t code = 0x20; code < 0x110000; ++code) {
    const int theirs = wcwidth(static_cast<wchar_t>(code));
    if (theirs < 0 || is_unsafe(code)) continue;
    if (theirs != character_columns(code) && ++different < 10) {
      ADD_FAILURE() << "U+" << std::hex << static_cast<std::uint32_t>(code) << ": " << theirs;
    }
  }
  // Another version of Unicode may disagree about a few; more means that the tables are wrong.
  EXPECT_EQ(different, 0);
}

// ---- what a terminal is sent
// ---------------------------------------------------------------------

constexpr std::string_view kClear = "\x1b[0m\x1b[2J";

TEST(Ansi, OnlyWhatChangedIsSent) {
  Grid before(10, 2), after(10, 2);
  before.text(0, 0, "abc", {});
  after.text(0, 0, "abd", {});
  const Ansi ansi;
  EXPECT_EQ(difference(before, after, ansi), "\x1b[1;3Hd");
  EXPECT_EQ(difference(after, after, ansi), "");
}

TEST(Ansi, WithoutUtf8EveryMarkOfTheScreensHasALikeness) {
  Grid grid(13, 1);
  grid.text(0, 0, "■●Σ×┃│─╭▼▲←→…", {});
  Ansi ansi;
  ansi.ascii = true;
  EXPECT_EQ(styled_text(grid, ansi), "**=x||-+v^<>.\n");
}

TEST(Ansi, AnotherSizeIsDrawnFromScratch) {
  Grid grid(3, 1);
  grid.text(0, 0, "x", {});
  EXPECT_EQ(difference(Grid(), grid, Ansi{}), std::string(kClear) + "\x1b[1;1Hx");
}

TEST(Ansi, ColoursAsDeepAsTheTerminal) {
  const Look look{Ink::kBad, Ink::kTrack, true};
  Ansi ansi{Palette(Theme::kDark), ColourDepth::kTrue};
  EXPECT_EQ(ansi.sequence(look), "\x1b[0;1;38;2;239;107;115;48;2;43;50;61m");
  ansi.depth = ColourDepth::k256;
  EXPECT_EQ(ansi.sequence(look).substr(0, 12), "\x1b[0;1;38;5;2");
  ansi.depth = ColourDepth::kNone;
  EXPECT_EQ(ansi.sequence(look), "\x1b[0;1m");
}

TEST(Ansi, WithoutColoursTheSelectionIsReversed) {
  EXPECT_EQ(Ansi{}.sequence({Ink::kText, Ink::kSelection}), "\x1b[0;7m");
}

TEST(Ansi, WithoutUtf8EveryCellIsOneAsciiByteAColumn) {
  Grid grid(12, 3);
  grid.frame({0, 0, 12, 3}, "", {}, {});
  grid.text(1, 1, "推█⣿é", {});
  const std::string sent =
      difference(Grid(), grid, {Palette(Theme::kDark), ColourDepth::kNone, true});
  for (const char byte : sent) EXPECT_LT(static_cast<unsigned char>(byte), 0x80);
  EXPECT_NE(sent.find("|??#:?"), std::string::npos) << sent;
}

TEST(Palette, TheEnvironmentDecides) {
  EXPECT_EQ(colour_depth("1", "truecolor", "xterm-256color"), ColourDepth::kNone);
  EXPECT_EQ(colour_depth("", "truecolor", "xterm-256color"), ColourDepth::kTrue);
  EXPECT_EQ(colour_depth("", "24bit", "tmux-256color"), ColourDepth::kTrue);
  EXPECT_EQ(colour_depth("", "", "screen-256color"), ColourDepth::k256);
  EXPECT_EQ(colour_depth("", "truecolor", "dumb"), ColourDepth::kNone);
  EXPECT_EQ(theme_of("0;15"), Theme::kLight);
  EXPECT_EQ(theme_of("15;0"), Theme::kDark);
  EXPECT_EQ(theme_of("12;default;7"), Theme::kLight);
  EXPECT_EQ(theme_of(""), Theme::kDark);
}

TEST(Palette, NearestOf256IsItselfForThoseColours) {
  EXPECT_EQ(nearest_of_256({0, 0, 0}), 16);
  EXPECT_EQ(nearest_of_256({255, 255, 255}), 231);
  EXPECT_EQ(nearest_of_256({95, 135, 175}), 16 + 36 + 2 * 6 + 3);
  EXPECT_EQ(nearest_of_256({238, 238, 238}), 255);
}

}  // namespace
}  // namespace ttmem::view
