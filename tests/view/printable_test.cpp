// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/printable.hpp"

#include <gtest/gtest.h>

#include "view/style.hpp"
#include "view/table.hpp"

namespace ttmem::view {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("python3 -m größe 漢字"), "python3 -m größe 漢字");
}

TEST(Printable, NothingOfAStrangerReachesTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("two\nlines\t"), "two\\x0alines\\x09");
  EXPECT_EQ(printable(std::string_view("nul\0x", 5)), "nul\\x00x");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");                // a control character of eight bits
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");           // no UTF-8
  EXPECT_EQ(printable("\xe2\x80\xaegpj"), "\\u{202e}gpj");  // right to left
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);
}

TEST(DisplayWidth, CutsAtAColumn) {
  EXPECT_EQ(cut("transformer", 20), "transformer");
  EXPECT_EQ(cut("transformer", 6), "trans…");
  EXPECT_EQ(cut("漢字漢字", 4), "漢…");
  EXPECT_EQ(cut("x", 0), "");
}

TEST(Table, AlignsByColumnsAndLeavesNoTrailingSpaces) {
  Table table({{"Name"}, {"Bytes", Align::kRight}, {"Note"}});
  table.add({"漢字", "7", ""});
  table.add({"a", "1,000", "x"});
  EXPECT_EQ(table.text({}, 2),
            "  Name  Bytes  Note\n"
            "  漢字      7\n"
            "  a     1,000  x\n");
}

TEST(Style, ColoursOnlyWhenAsked) {
  const Style coloured{{Palette(Theme::kDark), ColourDepth::kTrue}};
  EXPECT_EQ(Style{}.paint(Tone::kBad, "x"), "x");
  EXPECT_EQ(coloured.paint(Tone::kPlain, "x"), "x");
  EXPECT_EQ(coloured.paint(Tone::kStrong, "x"), "\x1b[0;1mx\x1b[0m");
  EXPECT_EQ(coloured.paint(Tone::kBad, "x\n"), "\x1b[0;38;2;239;107;115mx\x1b[0m\n");
}

}  // namespace
}  // namespace ttmem::view
