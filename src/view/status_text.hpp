// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The report of `ttmem status`: a tree for each device, a table of the processes that are alive,
// those that ended with what they held, and whatever needs attention.
#pragma once

#include <string>

#include "ledger/snapshot.hpp"
#include "view/style.hpp"

namespace ttmem::view {

std::string status_text(const ledger::Snapshot& snapshot, const Style& style);

// Nobody is or was recorded: the report begins with one line that says how to begin.
bool is_empty(const ledger::Snapshot& snapshot);
std::string empty_text();

}  // namespace ttmem::view
