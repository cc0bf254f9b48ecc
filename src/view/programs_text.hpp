// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem status --programs`: the live programs, what each takes and how often it ran.
#pragma once

#include <string>
#include <vector>

#include "ledger/snapshot.hpp"
#include "view/style.hpp"

namespace ttmem::view {

std::string programs_text(const std::vector<ledger::ProgramView>& programs, ledger::TimeNs now,
                          const Style& style);

}  // namespace ttmem::view
