// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What all commands that read share: options for what to see, and what they say when it cannot be
// read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "view/selection.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace ttmem::cli {

// `--device`, `--pid` or `--kind`, by its name in view::Selection.
void add_selection(CLI::App& command, const std::string& name, const std::string& help,
                   view::Selection& selection);

// Checks for options that take a number of things, or seconds: they say what is wrong with a value,
// "" if nothing is.
std::string positive_number(const std::string& text);
std::function<std::string(const std::string&)> seconds_between(double least, double most);

// Finds in the snapshot what is selected. Why it is not there, with what there is instead; "" if
// it is.
std::string find_selected(view::Selection& selection, const ledger::Snapshot& snapshot);

// Not one of the directories can be looked into: words for the user; "" if all is well.
std::string unusable_directory(const std::vector<std::string>& directories);

// Says why on standard error, and returns the code.
int complain(const std::string& why, int exit_code);
// The same of what a user named: it is not there, or it is not what was wanted.
int complain(const Error& error);

}  // namespace ttmem::cli
