// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Texts of strangers in Markdown, where a name could begin a list, a link or a table.
#pragma once

#include <string>
#include <string_view>

namespace ttmem::view {

// A piece of a line, or the cell of a table.
std::string markdown_text(std::string_view text);
// Lines as they are; nothing in them ends the block.
std::string markdown_block(std::string_view lines);

}  // namespace ttmem::view
