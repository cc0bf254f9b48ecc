// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures of a device, from those of the processes on it: each follows the rule of its row in
// figure_table.hpp. Rings stay what they are, one by one.
#pragma once

#include "ledger/figures.hpp"

namespace ttmem::ledger {

class DeviceSum {
 public:
  // Every process counts with what does not depend on its being alive: capacities and peaks.
  void add(const DeviceFigures& process, bool alive);
  // `only_one`: no other process, dead or alive, is known on this device; its peaks are the
  // device's.
  DeviceFigures result(bool only_one);

 private:
  DeviceFigures sum_;
  bool any_alive_ = false;
};

}  // namespace ttmem::ledger
