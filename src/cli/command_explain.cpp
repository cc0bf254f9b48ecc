// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/explained.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"

namespace ttmem::cli {
namespace {

struct ExplainOptions {
  view::Selection selection;
  FormatChoice format;
  std::optional<std::uint32_t> failure;
};

std::string nothing_text(const ExplainOptions& options) {
  if (options.failure) {
    return fmt::format("no process has kept a failure {}; `ttmem status` lists those there are",
                       *options.failure);
  }
  return options.selection.process()
             ? fmt::format("process {} has kept no failure", options.selection.process()->text())
             : "no process has kept a failure: run the program with `ttmem run`, let it fail, and "
               "ask again";
}

int explain_failure(ExplainOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collect::Collector collector(collecting);
  collector.refresh();
  if (const std::string why = unusable_directory(collector.directories()); !why.empty()) {
    return complain(why, kFailed);
  }
  if (const std::string why = find_selected(options.selection, collector.snapshot());
      !why.empty()) {
    return complain(why, kNotFound);
  }
  const auto found = explained(collector, options.selection, options.failure);
  if (!found) return complain(nothing_text(options), kNotFound);
  Output output;
  options.format.print(explain_formats(), output, collector.snapshot(), *found);
  return output.finish();
}

constexpr const char* kExplainExamples =
    "Says why an allocation or a launch failed: verdict, sum per bank, picture, who is in the "
    "way,\n"
    "what helps and what is not known. A cure is shown only if it was tried out on the picture of\n"
    "that moment and helped.\n"
    "Examples:\n"
    "  ttmem explain             the newest failure of any process, alive or dead\n"
    "  ttmem explain --pid 4711  the newest of that process\n"
    "  ttmem explain 2 --json    failure 2, for tools";

}  // namespace

void register_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Explain why something did not fit, and what helps");
  command->footer(kExplainExamples);
  command
      ->add_option("failure", options->failure, "Number of the failure, as `ttmem status` lists it")
      ->type_name("FAILURE")
      ->check(CLI::PositiveNumber);
  add_selection(*command, "pid", "Only failures of this process, alive or dead; or PID/START",
                options->selection);
  options->format.offer(*command, explain_formats(), "Print text or json");
  command->callback(
      [options, &action] { action = [options] { return explain_failure(*options); }; });
}

}  // namespace ttmem::cli
