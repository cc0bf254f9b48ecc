// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernel-config rings of a device, each as a strip of its addresses: slices of programs that
// live, slices whose program is gone, and holes.
#pragma once

#include "top/canvas.hpp"

namespace ttmem::top {

// Lines that a panel with all rings of the device would like to have; 0 if it has none.
int ring_lines(const Scene& scene);
// The frame must have the device's details.
void draw_rings(Canvas& canvas, const view::Rect& place, const Scene& scene);

}  // namespace ttmem::top
