// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A device in one to four lines: names, DRAM, L1 and what the L1 is made of.
#pragma once

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"

namespace ttmem::top {

// 4: title, DRAM, L1, legend. 2: DRAM and L1 with the title before them. 1: all in one line.
void draw_device_card(Canvas& canvas, const view::Rect& place, const Scene& scene,
                      const ledger::DeviceView& device);

// "3,4", "eth 2,0": where a core is.
std::string core_text(const ledger::Core& core);

// Parts of a whole in one unit, rounded so that what is shown adds up; last the sum, with the unit.
std::vector<std::string> adding_up(const std::vector<std::uint64_t>& parts, bool exact);

}  // namespace ttmem::top
