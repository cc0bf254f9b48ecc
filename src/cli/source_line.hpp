// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The text of a line of Python that a process named. The name comes from a stranger's file, so only
// regular files that end in .py and are not large are read, and only for the one who asks.
#pragma once

#include <optional>
#include <string>

namespace ttmem::cli {

// `place` is "FILE:LINE" or "FILE:LINE FUNCTION". Without the spaces around it; empty if it cannot
// be read.
std::optional<std::string> source_line(const std::string& place);

}  // namespace ttmem::cli
