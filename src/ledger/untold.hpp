// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include "ledger/figures.hpp"

namespace ttmem::ledger {

// Whether a process holds program L1 of which nobody tells the launches: what of it is resident is
// not known then, and not what is resident on the device either.
inline bool has_untold_launches(const DeviceFigures& process) {
  return !process.program_l1.resident && process.program_l1.allocated.value_or(0) > 0;
}

}  // namespace ttmem::ledger
