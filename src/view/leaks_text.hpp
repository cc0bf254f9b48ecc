// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What grows from step to step, for people and for tools.
#pragma once

#include <string>

#include "explain/leaks.hpp"
#include "ledger/snapshot.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

std::string leaks_text(const explain::LeakReport& report, ledger::TimeNs now, const Style& style);
std::string leaks_json(const ledger::Snapshot& snapshot, const explain::LeakReport& report,
                       JsonLayout layout);

}  // namespace ttmem::view
