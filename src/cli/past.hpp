// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The present, or a moment of a recording: `--from FILE --at WHEN`, the same in every command that
// reads. What comes out is a collector, and the command does not know which.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "collect/collector.hpp"
#include "view/selection.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
}  // namespace CLI

namespace ttmem::cli {

struct Past {
  std::string file;  // "": the present
  std::string at;    // "": the end

  explicit operator bool() const { return !file.empty(); }
};

// The option --from, which a command may explain better.
CLI::Option* add_past(CLI::App& command, Past& past);

// The options as they were given, for a command that is named: " --from night.ttm --at peak".
std::string options_text(const Past& past);

// At the moment that was asked for, and refreshed. An error is in words for the user.
Result<collect::Collector> open_collector(const collect::Options& options, const Past& past);

// The same into `collector`, with what is selected found in it. Returns an ExitCode; whatever is in
// the way is said on standard error.
int open_selected(const collect::Options& options, const Past& past, view::Selection& selection,
                  std::optional<collect::Collector>& collector);

}  // namespace ttmem::cli
