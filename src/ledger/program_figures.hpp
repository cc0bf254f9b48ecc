// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures of programs on one device: program L1, kernels, launches, rings and headroom.
#pragma once

#include "ledger/books.hpp"
#include "ledger/figures.hpp"

namespace ttmem::ledger {

// What the programs of all sets of the device add up to. A closed device has no kernels loaded.
SetFigures program_sums(const Books& books, DeviceIndex device);

void fill_program_l1(const Books& books, DeviceIndex device, const SetFigures& sum,
                     DeviceFigures& figures);
void fill_kernels(const Books& books, DeviceIndex device, const SetFigures& sum,
                  KernelFigures& figures);
void fill_launches(const Books& books, DeviceIndex device, KernelFigures& figures);
void fill_rings(const Books& books, DeviceIndex device, DeviceFigures& figures);
// The writer's peaks; never below what is there now.
void fill_peaks(const Books& books, DeviceIndex device, DeviceFigures& figures);
Headroom headroom(const Books& books, DeviceIndex device);

}  // namespace ttmem::ledger
