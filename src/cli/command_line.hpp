// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The command line of `ttmem`: parses it, explains mistakes, runs the chosen command.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace ttmem::cli {

// Returns what main() returns. Never throws.
int run(int argc, char** argv);

// The words of the program that `run` or `doctor` was given. Throws as the parser does if the first
// of them is an option that the command does not have.
std::vector<std::string> program_of(const CLI::App& command);

}  // namespace ttmem::cli
