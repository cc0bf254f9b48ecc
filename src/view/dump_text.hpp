// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem dump`: every holding, one per row, in a table for each kind.
#pragma once

#include <string>
#include <vector>

#include "ledger/snapshot.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// `now` is what ages are counted from. Empty if there is nothing.
std::string dump_text(const std::vector<ledger::HoldingView>& holdings, ledger::TimeNs now,
                      const Style& style);

// One failure: what happened, in the runtime's words, and what was held at that moment.
std::string failure_text(const ProcessFailure& failure, ledger::TimeNs now, const Style& style);

}  // namespace ttmem::view
