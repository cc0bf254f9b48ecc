// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/command_line.hpp"

#include <signal.h>

#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kDescription =
    "ttmem: what occupies the memory of my Tenstorrent devices, who put it there, and what is "
    "left?\n"
    "Processes record their own device memory; these commands only read. `ttmem COMMAND --help`\n"
    "explains each with examples.";

constexpr const char* kFooter =
    "Environment:\n"
    "  TTMEM_DIR        look here (and record here) instead of /run/ttmem and /dev/shm/ttmem-UID\n"
    "  TTMEM_DISABLE=1  record nothing\n"
    "  NO_COLOR=1       no colours\n"
    "Exit codes: 0 done, 1 what was named is not there, 2 wrong usage, 3 the system refused";

// The subcommand whose options were being read, for the advice at the end of an error.
std::string help_command(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) return "ttmem " + command->get_name();
  return "ttmem";
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
  fmt::print(stderr, "ttmem: {}\n`{} --help` shows how to use it.\n", error.what(),
             help_command(app));
  return kUsage;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(kDescription, "ttmem");
  app.footer(kFooter);
  app.set_version_flag("--version", "ttmem " TTMEM_VERSION, "Print the version");
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  Action action;
  for (const Register add : commands()) add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Output::print(app.help());
  } catch (const CLI::CallForVersion&) {
    return Output::print("ttmem " TTMEM_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    if (argc == 1) return Output::print(app.help());
    return explain(app, error);
  }
  return action ? action() : static_cast<int>(kUsage);
}

}  // namespace

int run(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a reader that has left is noticed when writing, and is no error
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ttmem: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace ttmem::cli
