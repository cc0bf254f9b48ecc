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

// ---- moving.cpp: from row to row of a list, from core to core of a chip -------------------------

inline constexpr int kRowsAround = 4;  // of the screen: header, footer and the frame of a list

// Whether the arrows go from core to core.
bool on_cores(const ScreenState& state);

// The row of the overview that is selected: devices first, then the processes as they are listed.
// -1: none.
int overview_row(const ScreenState& state, const Shown& shown);

// Both stop at the ends of the list. `by` counts downwards on the screen.
void select_row(ScreenState& state, const Shown& shown, int row);
void move_rows(ScreenState& state, const Shown& shown, int by);

// To the next core in one direction, over places that have none.
void move_core(ScreenState& state, const Shown& shown, int columns, int rows);

}  // namespace ttmem::top
