// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Two readers of one host put together: one sees its own user's processes, the other, a daemon,
// those of everybody.
#pragma once

#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// Adds the processes that only `theirs` knows, labelled Source::kDaemon, and counts them in the
// sums of their devices. A process that both know stays as it is in `mine`, unless only `theirs`
// has its segment. Snapshots of different boots have nothing to do with each other: then false, and
// nothing is changed.
bool add_processes(const Snapshot& theirs, Snapshot& mine);

}  // namespace ttmem::ledger
