// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/ask_daemon.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"
#include "collect/directories.hpp"
#include "top/run.hpp"
#include "top/views.hpp"

namespace ttmem::cli {
namespace {

constexpr std::string_view kScreen = "text";  // of the formats of status, the one of a person

struct TopOptions {
  bool once = false;
  FormatChoice format;
  double interval_s = 1.0;
  view::Selection selection;
  Past past;
  std::string theme = "auto", view = "overview", size;
};

const std::map<std::string, top::View>& views() {
  static const std::map<std::string, top::View> kAll = {
      {"overview", top::View::kOverview}, {"device", top::View::kDevice},
      {"programs", top::View::kPrograms}, {"process", top::View::kProcess},
      {"events", top::View::kEvents},     {"dead", top::View::kDead},
      {"help", top::View::kHelp}};
  return kAll;
}

top::RunOptions run_options(const TopOptions& options) {
  top::RunOptions result;
  result.collecting = top::what_to_read(options.selection.process());
  result.interval_s = options.interval_s;
  result.ansi = ansi_of_output(options.theme);
  result.view = views().at(options.view);
  result.complete = completer(options.selection.process());
  if (!options.selection.process()) result.past = last_minutes();
  return result;
}

// A recording needs nobody to complete it: what was not recorded is not known.
Result<top::RunOptions> recorded_options(const TopOptions& options) {
  top::RunOptions result;
  result.collecting.process = options.selection.process();
  result.collecting.launches = true;
  result.interval_s = options.interval_s;
  result.ansi = ansi_of_output(options.theme);
  result.view = views().at(options.view);
  const auto collector = open_collector(result.collecting, options.past);
  if (!collector) return collector.error();
  result.recorded = top::Recorded{options.past.file, collector->snapshot().time};
  return result;
}

struct Size {
  int columns = 120, rows = 40;
};

// As asked for; else the terminal's; else one that fits most pages.
Size picture_size(const std::string& asked) {
  Size size;
  winsize terminal{};
  if (std::sscanf(asked.c_str(), "%dx%d", &size.columns, &size.rows) == 2) return size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0) {
    return {terminal.ws_col, terminal.ws_row - 1};
  }
  return {};
}

std::string check_size(const std::string& text) {
  Size size;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%dx%d%c", &size.columns, &size.rows, &rest);
  const bool fits = read == 2 && size.columns >= top::kLeastColumns && size.columns <= 500 &&
                    size.rows >= top::kLeastRows && size.rows <= 500;
  return fits ? ""
              : fmt::format("a size is COLUMNSxROWS, {}x{} or more", top::kLeastColumns,
                            top::kLeastRows);
}

// Why nothing could be shown at all; empty if something can.
std::string blindness(const top::RunOptions& options) {
  std::vector<std::string> directories;
  for (const collect::Directory& directory : collect::find_directories({}, "")) {
    directories.push_back(directory.path);
  }
  const std::string why = unusable_directory(directories);
  if (why.empty()) return "";
  collect::Collector collector(options.collecting);
  collector.refresh();
  ledger::Snapshot snapshot = collector.snapshot();
  return complete(collector, options.collecting.process, snapshot) ? "" : why;
}

int show(const top::RunOptions& options, const TopOptions& asked) {
  if (asked.once) {
    const Size size = picture_size(asked.size);
    return Output::print(top::picture(options, size.columns, size.rows));
  }
  const auto finished = top::run(options);
  return finished ? kOk : complain(finished.error().message, kFailed);
}

int run_top(const TopOptions& asked) {
  if (!asked.format.is(kScreen)) return print_status(asked.selection, asked.past, asked.format);
  if (asked.past) {
    const auto options = recorded_options(asked);
    return options ? show(*options, asked) : complain(options.error().message, kNotFound);
  }
  const top::RunOptions options = run_options(asked);
  if (const std::string why = blindness(options); !why.empty()) return complain(why, kFailed);
  return show(options, asked);
}

constexpr const char* kTopExamples =
    "Views: overview, device, programs, process, events, dead, help.\n"
    "Keys: arrows, Tab, Enter, / filter, s sort, Space pause, + and - refresh, ? help, q quit;\n"
    "the mouse works as well. Reading takes at most 3.5 % of one CPU core: if very many processes\n"
    "change all the time, updates come less often than asked for, down to one per second.\n"
    "Examples:\n"
    "  ttmem top                       every device and process, updated once per second\n"
    "  ttmem top --interval 0.1        ten times per second\n"
    "  ttmem top --view device         the cores of the first device\n"
    "  ttmem top --once --size 120x40  one screen as text, for a log or an e-mail\n"
    "  ttmem top --from night.ttm      a recording: arrows go through time, Space plays, ] goes "
    "to\n"
    "                                  the next failure or peak";

}  // namespace

void register_top(CLI::App& app, Action& action) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command =
      app.add_subcommand("top", "Show what each device holds, live on the full screen");
  command->footer(kTopExamples);
  command->add_option("--interval", options->interval_s, "Seconds between two updates")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(seconds_between(top::kShortestIntervalS, top::kLongestIntervalS));
  std::vector<std::string> names;
  for (const auto& [name, view] : views()) names.push_back(name);
  command->add_option("--view", options->view, "View to start with")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember(names));
  add_past(*command, options->past);
  add_selection(*command, "pid", "Show only this process; PID/START if several have the id",
                options->selection);
  command->add_option("--theme", options->theme, "Colours: dark, light, or auto (by COLORFGBG)")
      ->type_name("THEME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "dark", "light"}));
  auto* once = command->add_flag("--once", options->once, "Print one screen and exit");
  command->add_option("--size", options->size, "Columns and rows to print with --once")
      ->type_name("COLUMNSxROWS")
      ->needs(once)
      ->check(check_size);
  options->format.offer(*command, status_formats(),
                        "json or legacy: print what `ttmem status` would, and exit");
  once->excludes("--json");
  command->callback([options, &action] { action = [options] { return run_top(*options); }; });
}

}  // namespace ttmem::cli
