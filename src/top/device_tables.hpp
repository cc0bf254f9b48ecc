// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernels of a device, and below them its DRAM banks.
#pragma once

#include "ledger/snapshot.hpp"
#include "top/canvas.hpp"

namespace ttmem::top {

// The frame must have the device's details.
void draw_device_tables(Canvas& canvas, const view::Rect& place, const Scene& scene,
                        const ledger::DeviceView& device);

}  // namespace ttmem::top
