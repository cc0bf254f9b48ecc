// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include "ledger/snapshot.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve {

ledger::TimeNs wall_now();

// Time and memory of this process; the rest is left to others.
view::SelfFigures own_cost();

}  // namespace ttmem::serve
