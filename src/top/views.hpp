// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The screen as a function: what was read, what the person chose, and the size of the terminal give
// every cell. Nothing here knows a terminal, a clock or a thread. First the whole, then its views,
// then the panels that they are made of, each drawn into the place it is given.
#pragma once

#include <string>

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"

namespace ttmem::top {

inline constexpr int kLeastColumns = 60, kLeastRows = 16;

Canvas draw_screen(const Scene& scene, int columns, int rows);

// ---- views --------------------------------------------------------------------------------------

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
// Every job; or, of the one that was opened, its ranks: who is missing, who holds more than the
// others, who died first.
void draw_jobs(Canvas& canvas, const view::Rect& place, const Scene& scene);
// Of a fleet: its sums and its hosts, the fullest first; and the devices of one host.
void draw_hosts(Canvas& canvas, const view::Rect& place, const Scene& scene);
void draw_host(Canvas& canvas, const view::Rect& place, const Scene& scene);
void draw_help(Canvas& canvas, const view::Rect& place, const Scene& scene);
// How many lines the help has, in one column.
int help_lines();

// ---- panels -------------------------------------------------------------------------------------

// One core's L1 as a tower of addresses, with what lies where and whose it is.
void draw_core(Canvas& canvas, const view::Rect& place, const Scene& scene,
               const ledger::CoreView& core);

// The kernel-config rings of a device, each as a strip of its addresses: slices of programs that
// live, slices whose program is gone, and holes. How many lines a panel with all of them would like
// to have; 0 if there are none.
int ring_lines(const Scene& scene);
// The frame must have the device's details.
void draw_rings(Canvas& canvas, const view::Rect& place, const Scene& scene);

// Of the process view. How many rows there are of its devices: those with the same figures share
// one.
int process_device_rows(const Scene& scene, const ledger::ProcessView& process);
// What it has on each device, with peaks; the last line is the sum.
void draw_process_devices(Canvas& canvas, const view::Rect& place, const Scene& scene,
                          const ledger::ProcessView& process);
// Its holdings by kind and operation: how much, how old, what is new.
void draw_groups(Canvas& canvas, const view::Rect& place, const Scene& scene,
                 const ledger::ProcessView& process);
// The same as a tree of stacks.
void draw_tree(Canvas& canvas, const view::Rect& place, const Scene& scene,
               const ledger::ProcessView& process);
// Its failures; or, of one that is open, what was held at that moment.
void draw_failures(Canvas& canvas, const view::Rect& place, const Scene& scene,
                   const ledger::ProcessView& process);

// DRAM and L1 over the last two minutes. One above the other, or side by side where the place is
// wide and low. Null: nothing is known.
void draw_charts(Canvas& canvas, const view::Rect& place, const std::string& title,
                 const Track* track);

}  // namespace ttmem::top
