// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The orders of `ttmem dump`.
#pragma once

#include <string>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::cli {

// "size": largest first; "age": oldest first; "name", "pid", "device": ascending; "": as they come.
void sort_holdings(std::vector<ledger::HoldingView>& holdings, const std::string& key);

}  // namespace ttmem::cli
