// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/reading_options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "cli/say.hpp"

namespace ttmem::cli {
namespace {

void take(const std::string& name, const std::string& value, view::Selection& selection) {
  const std::string wanted = selection.add(name, value);
  if (!wanted.empty()) throw CLI::ValidationError("--" + name, "must be " + wanted);
}

}  // namespace

void add_selection(CLI::App& command, const std::string& name, const std::string& help,
                   view::Selection& selection) {
  if (name == "kind") {
    command
        .add_option_function<std::vector<std::string>>(
            "--kind",
            [&selection](const std::vector<std::string>& kinds) {
              for (const std::string& kind : kinds) take("kind", kind, selection);
            },
            help)
        ->type_name("KIND")
        ->delimiter(',');
    return;
  }
  command
      .add_option_function<std::string>(
          "--" + name,
          [name, &selection](const std::string& value) { take(name, value, selection); }, help)
      ->type_name(name == "pid" ? "PID" : "ID");
}

std::string positive_number(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text.find_first_not_of('0') != std::string::npos ? "" : "must be 1 or more";
}

std::function<std::string(const std::string&)> seconds_between(double least, double most) {
  return [=](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool good = !text.empty() && *end == '\0' && value >= least && value <= most;
    return good ? "" : fmt::format("must be a number of seconds from {} to {}", least, most);
  };
}

std::string find_selected(view::Selection& selection, const ledger::Snapshot& snapshot) {
  if (std::string why = selection.missing_process(snapshot); !why.empty()) return why;
  const auto found = selection.find(snapshot);
  return found ? "" : found.error().message;
}

std::string unusable_directory(const std::vector<std::string>& directories) {
  std::string complaint;
  for (const std::string& path : directories) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) {
      if (errno == ENOENT) continue;
    } else if (!S_ISDIR(status.st_mode)) {
      errno = ENOTDIR;
    } else if (access(path.c_str(), R_OK | X_OK) == 0) {
      return "";
    }
    complaint = fmt::format("cannot look into {}: {}; set TTMEM_DIR to a directory you may read",
                            path, std::strerror(errno));
  }
  return complaint;
}

int complain(const std::string& why, int exit_code) {
  say("ttmem: {}\n", why);
  return exit_code;
}

int complain(const Error& error) {
  return complain(error.message, error.code == ErrorCode::kNotFound ? kNotFound : kUsage);
}

}  // namespace ttmem::cli
