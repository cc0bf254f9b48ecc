// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A program that is recorded from its start to its end, with its children.
#pragma once

#include <string>
#include <vector>

#include "inject/launch/launch.hpp"

namespace ttmem::cli {

// Starts it with these variables, and ends with its exit code, or 128 and the number of the signal
// that ended it. `launches`: sample them at every look.
int record_program(const std::string& file, bool launches, const std::vector<std::string>& command,
                   const inject::Environment& environment);

}  // namespace ttmem::cli
