// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/command_line.hpp"

int main(int argc, char** argv) { return ttmem::cli::run(argc, argv); }
