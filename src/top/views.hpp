// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The views of the screen, each drawn into the place it is given.
#pragma once

#include "top/canvas.hpp"

namespace ttmem::top {

// Devices with their bars, processes below, totals that add up.
void draw_overview(Canvas& canvas, const view::Rect& place, const Scene& scene);
// One chip: its cores, the L1 of the core under the cursor, kernels and DRAM.
void draw_device(Canvas& canvas, const view::Rect& place, const Scene& scene);
// Every live program: where it runs, how large, how often, since when.
void draw_programs(Canvas& canvas, const view::Rect& place, const Scene& scene);
// One process: devices, peaks, holdings by kind and operation, failures.
void draw_process(Canvas& canvas, const view::Rect& place, const Scene& scene);
void draw_events(Canvas& canvas, const view::Rect& place, const Scene& scene);
// Processes that are gone, and what they held when they went.
void draw_dead(Canvas& canvas, const view::Rect& place, const Scene& scene);
void draw_help(Canvas& canvas, const view::Rect& place, const Scene& scene);
// How many lines the help has, in one column.
int help_lines();

}  // namespace ttmem::top
