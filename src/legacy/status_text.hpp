// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem status --format legacy`: the two layouts of the original's viewer, for eyes and scripts
// that know them. Buffers are as requested, CBs are summed over all live programs, and both totals
// include the kernels' footprint, as there; a foot line says so.
#pragma once

#include <string>

#include "ledger/snapshot.hpp"

namespace ttmem::legacy {

std::string status_text(const ledger::Snapshot& snapshot);

}  // namespace ttmem::legacy
