// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A long text in several lines.
#pragma once

#include <string_view>
#include <vector>

namespace ttmem::top {

// Broken at line ends and, where a line would be wider than `columns`, at its last space; at most
// `most` lines, all of them pieces of the text.
std::vector<std::string_view> wrapped(std::string_view text, int columns, std::size_t most);

}  // namespace ttmem::top
