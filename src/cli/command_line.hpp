// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The command line of `ttmem`: parses it, explains mistakes, runs the chosen command.
#pragma once

namespace ttmem::cli {

// Returns what main() returns. Never throws.
int run(int argc, char** argv);

}  // namespace ttmem::cli
