// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures of a device, from those of the processes on it. Most add up; the others follow the
// rule that stands beside them in docs/figures.md.
#pragma once

#include <cstdint>

#include "ledger/figures.hpp"

namespace ttmem::ledger {

// L1 taken + L1_SMALL taken + program L1 resident; empty if one of them is not known.
Figure l1_used(const DeviceFigures& figures);

class DeviceSum {
 public:
  // Capacity, which the dead know as well as the living.
  void add_geometry(const DeviceFigures& process);
  // One living process.
  void add(const DeviceFigures& process);
  // `only_one`: no other process, dead or alive, is known on this device; its peaks are the
  // device's.
  DeviceFigures result(bool only_one);

 private:
  void add_space(const SpaceFigures& from, SpaceFigures& to);
  void add_kernels(const KernelFigures& from, KernelFigures& to);
  void lower_headroom(const Headroom& from);

  DeviceFigures sum_;
  bool any_ = false;
};

}  // namespace ttmem::ledger
