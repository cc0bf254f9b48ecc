// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Keys and clicks out of the bytes that a terminal sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::top {

enum class Key : std::uint8_t {
  kCharacter,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kTab,
  kBackTab,
  kEnter,
  kEscape,
  kBackspace,
  kClick,
  kWheelUp,
  kWheelDown,
};

struct Input {
  Key key = Key::kCharacter;
  char32_t character = 0;
  int x = 0, y = 0;  // of a click or a wheel, from 0
};

// Sequences may arrive in pieces. A lone Escape is only known to be the key when nothing follows:
// call flush() after a short pause while pending() is true.
class InputDecoder {
 public:
  std::vector<Input> feed(std::string_view bytes);
  std::vector<Input> flush();
  bool pending() const { return !rest_.empty(); }

 private:
  // Takes one input from the front of rest_; false: more bytes are needed.
  bool take(std::vector<Input>& inputs);
  bool take_sequence(std::vector<Input>& inputs);

  std::string rest_;
};

}  // namespace ttmem::top
