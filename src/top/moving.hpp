// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where the selection and the cursor go: from row to row of a list, from core to core of a chip.
#pragma once

#include "top/controls.hpp"

namespace ttmem::top {

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
