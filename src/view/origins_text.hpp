// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem status --by line`: what is held, by the code that it comes from.
#pragma once

#include <string>

#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// One row a line, file, operation or region, the largest first, and their sum; of stacks a tree,
// each step with everything inside of it.
std::string origins_text(const Origins& origins, const Style& style);

// "model > layer 3"; what is not known is said in words.
std::string origin_name(const ledger::OriginTotal& row, ledger::OriginBy by);

}  // namespace ttmem::view
