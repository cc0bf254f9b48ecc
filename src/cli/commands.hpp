// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The subcommands of `ttmem`. A new one is a file command_<name>.cpp with a register function, a
// line here and a line in the list of command_line.cpp.
#pragma once

#include <functional>
#include <vector>

#include "view/selection.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace ttmem::cli {

class FormatChoice;
struct Past;

// Does what was asked for and returns an ExitCode (or, for `run`, the program's own).
using Action = std::function<int()>;

// Adds a subcommand with its options, help and examples; when it is chosen, puts what to do into
// `action`.
using Register = void (*)(CLI::App& app, Action& action);

void register_run(CLI::App& app, Action& action);
void register_status(CLI::App& app, Action& action);
void register_top(CLI::App& app, Action& action);
void register_explain(CLI::App& app, Action& action);
void register_fit(CLI::App& app, Action& action);
void register_diff(CLI::App& app, Action& action);
void register_leaks(CLI::App& app, Action& action);
void register_dump(CLI::App& app, Action& action);
void register_events(CLI::App& app, Action& action);
void register_record(CLI::App& app, Action& action);
void register_report(CLI::App& app, Action& action);
void register_export(CLI::App& app, Action& action);
void register_serve(CLI::App& app, Action& action);
void register_fleet(CLI::App& app, Action& action);
void register_push(CLI::App& app, Action& action);
void register_doctor(CLI::App& app, Action& action);
void register_gc(CLI::App& app, Action& action);
void register_demo(CLI::App& app, Action& action);
void register_completion(CLI::App& app, Action& action);
void register_manual(CLI::App& app, Action& action);

// What `ttmem status` prints in this format, for whoever offers the same; an ExitCode.
int print_status(const view::Selection& selection, const Past& past, const FormatChoice& format);

// `ttmem` alone: what is going on, and what to do next; an ExitCode.
int print_overview();

// In the order of the help text.
const std::vector<Register>& commands();

}  // namespace ttmem::cli
