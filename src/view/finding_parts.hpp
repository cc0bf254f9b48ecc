// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the texts of findings share: of a failure, and of a device as it is now.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "explain/findings.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// What stands in a line of code, by "FILE:LINE FUNCTION", as far as somebody could read it.
using Sources = std::map<std::string, std::string>;

// Words on lines of at most 100 columns, the second and later ones indented.
std::string wrapped(std::string_view text, std::string_view first, std::string_view others);
// One row for each, with what was left out below.
std::string holders_table(const std::vector<explain::Holder>& holders, std::uint64_t left_out,
                          ledger::TimeNs now, const Style& style);
// "1. Deallocate …", "2. Or …", each with what must be true and the call; below several that are
// about one line, that line.
std::string cures_text(const std::vector<explain::Cure>& cures, const Sources& sources);
// With its title; "" if there is nothing.
std::string unknown_text(const std::vector<std::string>& unknown, const Style& style);

}  // namespace ttmem::view
