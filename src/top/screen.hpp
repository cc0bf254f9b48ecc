// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The whole screen as a function: what was read, what the person chose, and the size of the
// terminal give every cell. Nothing here knows a terminal, a clock or a thread.
#pragma once

#include "top/canvas.hpp"

namespace ttmem::top {

inline constexpr int kLeastColumns = 60, kLeastRows = 16;

Canvas draw_screen(const Scene& scene, int columns, int rows);

}  // namespace ttmem::top
