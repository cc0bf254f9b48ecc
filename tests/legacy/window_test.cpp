// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/window.hpp"

#include <gtest/gtest.h>

#include "legacy/viewer.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::string_view kText = "1\n2\n3\n4\n5\n6\n\na\nb\nc\n";

TEST(Window, WhatFitsIsShownAsItIs) {
  Window window;
  EXPECT_EQ(window.show(kText, 10), "1\n2\n3\n4\n5\n6\n\na\nb\nc");
  EXPECT_EQ(window.show(kText, 0), window.show(kText, 100));
}

TEST(Window, LongScreensKeepTheLinesThatNameTheKeys) {
  Window window;
  const std::string moves = ": arrows and page keys move\na\nb\nc";
  EXPECT_EQ(window.show(kText, 6), "1\n2\n── lines 1 to 2 of 6" + moves);
  window.move(1);
  EXPECT_EQ(window.show(kText, 6), "2\n3\n── lines 2 to 3 of 6" + moves);
  window.page(1);
  EXPECT_EQ(window.show(kText, 6), "4\n5\n── lines 4 to 5 of 6" + moves);
  window.page(9);
  EXPECT_EQ(window.show(kText, 6), "5\n6\n── lines 5 to 6 of 6" + moves);
  window.move(-1);
  EXPECT_EQ(window.show(kText, 6), "4\n5\n── lines 4 to 5 of 6" + moves) << "not from beyond";
  window.page(-9);
  EXPECT_EQ(window.show(kText, 6), "1\n2\n── lines 1 to 2 of 6" + moves);
}

TEST(Window, ATerminalWithoutRoomForThemShowsWhatThereIs) {
  Window window;
  EXPECT_EQ(window.show(kText, 4), window.show(kText, 100));
}

TEST(Window, EveryScreenEndsWithThatManyLines) {
  for (const Screen screen : {Screen::kMain, Screen::kCharts, Screen::kTelemetry}) {
    const std::string text = screen_text({}, screen, {}, true);
    Window window;
    const std::string shown = window.show(text, kFooterLines + 1);
    EXPECT_NE(shown.find("arrows and page keys move\n💡 Telemetry source"), std::string::npos)
        << shown;
  }
}

}  // namespace
}  // namespace ttmem::legacy
