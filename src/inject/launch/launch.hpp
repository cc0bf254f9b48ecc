// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem run`: sets the environment that brings the hooks into a program, and becomes that program.
// Nothing of ours stays: exit code, signals, terminal and process id are the program's own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::inject {

/// The stub to preload: beside the command (a wheel), or in ../lib (a build or an installation).
Result<std::string> find_preload();
/// The same, seen from a directory that holds the command.
Result<std::string> find_preload(const std::string& command_directory);

/// The folder whose sitecustomize.py lets the lines of Python be told: ../share/ttmem/python, seen
/// from the command.
Result<std::string> find_python_start();
Result<std::string> find_python_start(const std::string& command_directory);

/// What LD_PRELOAD becomes: ours after whatever was there, once.
std::string merged_preload(std::string_view existing, std::string_view ours);
/// What PYTHONPATH becomes: ours before whatever was there, once.
std::string merged_python_path(std::string_view existing, std::string_view ours);

/// Variables with their values, in the order in which they are printed.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// How the lines of Python come to be told.
struct Lines {
  bool off = false;
  std::string python_start;  ///< as find_python_start() says; "" = none
};

/// What is recorded beside the memory.
struct Extras {
  bool launches = false;       ///< every launch as an event
  bool native_stacks = false;  ///< the native stack of each holding
  unsigned events = 0;         ///< that its ring shall keep; 0 = as it does anyway
  std::string job;             ///< of which the program is a part; "" = as its environment says
};

/// Whether the environment says so already (TTMEM_LINES=0).
bool lines_are_off();

/// What is added to the environment of a program: the preload, the recorder that Python shall use,
/// and what makes a Python name the lines that allocate.
Environment environment_with(const std::string& preload, const Lines& lines,
                             const Extras& extras = {});

/// One word of a shell, in quotes.
std::string shell_quoted(std::string_view text);

/// Lines for a shell: export LD_PRELOAD='…'.
std::string as_shell_text(const Environment& environment);

/// Exit codes of shells, for a program that could not be started.
inline constexpr int kCannotExecute = 126;
inline constexpr int kNoSuchProgram = 127;

/// Becomes the program, with these variables. Returns only if that fails: the code to exit with,
/// after a line that says why.
int become(const std::vector<std::string>& command, const Environment& environment);

}  // namespace ttmem::inject
