// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The command line as data: what the parser knows about its commands and options. Man pages and
// shell completions are written from it, so they can never say anything else than the parser does.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace ttmem::cli {

struct OptionDescription {
  std::vector<std::string> names;  // "-h", "--help"; none: a positional argument
  std::string value;               // "SECONDS"; "" for a flag
  std::string description;
  std::string default_value;
  std::vector<std::string> choices;  // the only values allowed; none: any
};

struct CommandDescription {
  std::string name;  // "status"; "ttmem" for the command itself
  std::string description;
  std::string footer;         // examples and notes, line by line
  bool runs_program = false;  // what follows is a program with its arguments
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;  // in the order of the help text, hidden ones left out
};

CommandDescription describe(const CLI::App& app);

// Of a description of several lines: what it is in short.
inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// ---- written from it -------------------------------------------------------------------------

// In roff: of the command itself, or of one of its commands.
std::string man_page(const CommandDescription& all, const CommandDescription& command);

std::string bash_completion(const CommandDescription& all);
std::string zsh_completion(const CommandDescription& all);
std::string fish_completion(const CommandDescription& all);

}  // namespace ttmem::cli
