// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/input.hpp"

#include <gtest/gtest.h>

namespace ttmem::top {
namespace {

std::vector<Key> keys(const std::vector<Input>& inputs) {
  std::vector<Key> result;
  for (const Input& input : inputs) result.push_back(input.key);
  return result;
}

TEST(Input, ArrowsInBothOfTheirForms) {
  InputDecoder decoder;
  EXPECT_EQ(keys(decoder.feed("\x1b[A\x1bOB\x1b[1;5C\x1bOD")),
            (std::vector{Key::kUp, Key::kDown, Key::kRight, Key::kLeft}));
}

TEST(Input, KeysOfXtermAndOfTmux) {
  InputDecoder decoder;
  EXPECT_EQ(keys(decoder.feed("\x1b[H\x1b[1~\x1b[F\x1b[4~\x1b[5~\x1b[6~\x1b[Z\t\r\x7f")),
            (std::vector{Key::kHome, Key::kHome, Key::kEnd, Key::kEnd, Key::kPageUp, Key::kPageDown,
                         Key::kBackTab, Key::kTab, Key::kEnter, Key::kBackspace}));
}

TEST(Input, SequencesMayArriveInPieces) {
  InputDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b").empty());
  EXPECT_TRUE(decoder.pending());
  EXPECT_TRUE(decoder.feed("[").empty());
  EXPECT_EQ(keys(decoder.feed("A")), std::vector{Key::kUp});
  EXPECT_FALSE(decoder.pending());
}

TEST(Input, ALoneEscapeIsTheKeyAfterAPause) {
  InputDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b").empty());
  EXPECT_EQ(keys(decoder.flush()), std::vector{Key::kEscape});
  EXPECT_TRUE(decoder.flush().empty());
}

TEST(Input, ClicksAndWheel) {
  InputDecoder decoder;
  const auto inputs = decoder.feed("\x1b[<0;12;5M\x1b[<0;12;5m\x1b[<64;1;1M\x1b[<65;1;1M");
  EXPECT_EQ(keys(inputs), (std::vector{Key::kClick, Key::kWheelUp, Key::kWheelDown}));
  EXPECT_EQ(inputs[0].x, 11);
  EXPECT_EQ(inputs[0].y, 4);
}

TEST(Input, CharactersInUtf8) {
  InputDecoder decoder;
  EXPECT_TRUE(decoder.feed("\xE6\x8E").empty());
  const auto inputs = decoder.feed("\xA8q");
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].character, U'推');
  EXPECT_EQ(inputs[1].character, U'q');
}

TEST(Input, NoiseIsHarmless) {
  InputDecoder decoder;
  std::string noise = "\x1b[";
  noise += std::string(100, '9');
  decoder.feed(noise);
  decoder.feed("\xFF\xFE\x80\x1b[?1;2c\x1b[200~");
  decoder.flush();
  EXPECT_EQ(keys(decoder.feed("\x1b[B")), std::vector{Key::kDown});
}

}  // namespace
}  // namespace ttmem::top
