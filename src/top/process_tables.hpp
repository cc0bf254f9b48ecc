// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The tables of the process view.
#pragma once

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"

namespace ttmem::top {

// How many rows there are of its devices: those with the same figures share one.
int process_device_rows(const Scene& scene, const ledger::ProcessView& process);
// What it has on each device, with peaks; the last line is the sum.
void draw_process_devices(Canvas& canvas, const view::Rect& place, const Scene& scene,
                          const ledger::ProcessView& process);
// Its holdings by kind and operation: how much, how old, what is new.
void draw_groups(Canvas& canvas, const view::Rect& place, const Scene& scene,
                 const ledger::ProcessView& process);
// Its failures; or, of one that is open, what was held at that moment.
void draw_failures(Canvas& canvas, const view::Rect& place, const Scene& scene,
                   const ledger::ProcessView& process);

}  // namespace ttmem::top
