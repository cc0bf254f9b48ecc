// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What keys and clicks do to the state of the screen.
#pragma once

#include <vector>

#include "top/canvas.hpp"
#include "top/input.hpp"

namespace ttmem::top {

// What was on the screen when the input came.
struct Shown {
  const Frame& frame;
  const History& history;
  const std::vector<Zone>& zones;
  int rows = 0;  // of the terminal
};

// Ctrl-Z stops, Ctrl-L draws everything again.
enum class Outcome : std::uint8_t { kGoOn, kRedraw, kStop, kQuit };

Outcome apply(ScreenState& state, const Input& input, const Shown& shown);

}  // namespace ttmem::top
