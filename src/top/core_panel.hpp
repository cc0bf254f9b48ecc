// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One core's L1 as a tower of addresses, with what lies where and whose it is.
#pragma once

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"

namespace ttmem::top {

void draw_core(Canvas& canvas, const view::Rect& place, const Scene& scene,
               const ledger::CoreView& core);

}  // namespace ttmem::top
