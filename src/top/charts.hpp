// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// DRAM and L1 over the last two minutes.
#pragma once

#include <string>

#include "top/canvas.hpp"

namespace ttmem::top {

// One above the other, or side by side where the place is wide and low. Null: nothing is known.
void draw_charts(Canvas& canvas, const view::Rect& place, const std::string& title,
                 const Track* track);

}  // namespace ttmem::top
