// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's two commands. `ttmem` is installed under their names as well and then takes their
// options: allocation_server_poc [-q], tt_smi_umd [-w] [-r MS].
#pragma once

#include <optional>

namespace ttmem::legacy {

// What main() returns if the program was called by one of these names; nothing otherwise.
std::optional<int> run_by_original_name(int argc, char** argv);

}  // namespace ttmem::legacy
