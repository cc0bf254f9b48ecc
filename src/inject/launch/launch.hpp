// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem run`: sets the environment that brings the hooks into a program, and becomes that program.
// Nothing of ours stays: exit code, signals, terminal and process id are the program's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "segment/result.hpp"

namespace ttmem::inject {

/// The stub to preload: beside the command (a wheel), or in ../lib (a build or an installation).
segment::Result<std::string> find_preload();
/// The same, seen from a directory that holds the command.
segment::Result<std::string> find_preload(const std::string& command_directory);

/// What LD_PRELOAD becomes: ours after whatever was there, once.
std::string merged_preload(std::string_view existing, std::string_view ours);

/// A line for a shell: export LD_PRELOAD='…'.
std::string as_shell_text(std::string_view preload);

/// Exit codes of shells, for a program that could not be started.
inline constexpr int kCannotExecute = 126;
inline constexpr int kNoSuchProgram = 127;

/// Becomes the program, with this LD_PRELOAD. Returns only if that fails: the code to exit with,
/// after a line that says why.
int become(const std::vector<std::string>& command, const std::string& preload);

}  // namespace ttmem::inject
