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
#include "cli/explained_live.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"

namespace ttmem::cli {
namespace {

struct ExplainOptions {
  view::Selection selection;
  Past past;
  FormatChoice format;
  std::optional<std::uint32_t> failure;
  bool live = false;  // the selected device as it is now, no failure
};

std::string nothing_text(const ExplainOptions& options) {
  if (options.past && !options.failure) {
    return options.past.file + ": no process had kept a failure at that moment";
  }
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
  std::optional<collect::Collector> collector;
  if (const int code = open_selected(collecting, options.past, options.selection, collector);
      code != kOk) {
    return code;
  }
  const auto& process = options.selection.process();
  const auto is_asked = [&](const ledger::ProcessName& each) {
    return !process || process->matches(each);
  };
  const auto found = explained(*collector, is_asked, options.failure);
  if (!found) return complain(nothing_text(options), kNotFound);
  Output output;
  options.format.print(explain_formats(), output, collector->snapshot(), *found);
  return output.finish();
}

int explain_device(ExplainOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collecting.events = true;
  std::optional<collect::Collector> collector;
  if (const int code = open_selected(collecting, options.past, options.selection, collector);
      code != kOk) {
    return code;
  }
  const ledger::DeviceView* device = *options.selection.find(collector->snapshot());
  Output output;
  options.format.print(live_formats(), output, collector->snapshot(),
                       explained_live(*collector, device->id));
  return output.finish();
}

constexpr const char* kExplainExamples =
    "Says why an allocation or a launch failed: verdict, sum per bank, picture, who is in the "
    "way,\n"
    "what helps and what is not known. Only what was tried out on the picture of that moment, and\n"
    "helped there, is shown as help.\n"
    "Examples:\n"
    "  ttmem explain             the newest failure of any process, alive or dead\n"
    "  ttmem explain --pid 4711  the newest of that process\n"
    "  ttmem explain 2 --json    failure 2, for tools\n"
    "  ttmem explain --live 0    device 0 as it is now: how full, how fragmented, what would fail "
    "next\n"
    "  ttmem explain --from night.ttm               the last failure of a recording\n"
    "  ttmem explain --from night.ttm --at 14:03:07 the last one up to then";

}  // namespace

void register_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Explain why something did not fit, and what helps");
  command->footer(kExplainExamples);
  CLI::Option* failure = command
                             ->add_option("FAILURE", options->failure,
                                          "Number of the failure, as `ttmem status` lists it")
                             ->type_name("")
                             ->check(positive_number);
  command
      ->add_option_function<std::string>(
          "--live",
          [options](const std::string& device) {
            if (const std::string why = options->selection.add("device", device); !why.empty()) {
              throw CLI::ValidationError("--live", "must be " + why);
            }
            options->live = true;
          },
          "Explain this device as it is now, and what would fail next")
      ->type_name("DEVICE")
      ->excludes(failure);
  add_selection(*command, "pid", "Only failures of this process, alive or dead; or PID/START",
                options->selection);
  add_past(*command, options->past);
  options->format.offer(*command, explain_formats(), "Print text or json");
  command->callback([options, &action] {
    action = [options] {
      return options->live ? explain_device(*options) : explain_failure(*options);
    };
  });
}

}  // namespace ttmem::cli
