// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/ask_daemon.hpp"
#include "cli/commands.hpp"
#include "cli/engine_options.hpp"
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
  EngineOptions engine;
  std::string theme = "auto", view, size;

  bool is_of_fleet() const { return is_url(past.file); }
};

using Views = std::map<std::string, top::View>;

// Of this host or a recording; of a fleet there are others.
const Views& views() {
  static const Views kAll = {{"overview", top::View::kOverview}, {"device", top::View::kDevice},
                             {"programs", top::View::kPrograms}, {"process", top::View::kProcess},
                             {"events", top::View::kEvents},     {"dead", top::View::kDead},
                             {"jobs", top::View::kJobs},         {"help", top::View::kHelp}};
  return kAll;
}

const Views& fleet_views() {
  static const Views kAll = {{"hosts", top::View::kHosts},
                             {"host", top::View::kHost},
                             {"jobs", top::View::kJobs},
                             {"help", top::View::kHelp}};
  return kAll;
}

// Empty if there is no such view of what is shown.
std::optional<top::View> first_view(const TopOptions& options) {
  const bool fleet = options.is_of_fleet();
  if (options.view.empty()) return fleet ? top::View::kHosts : top::View::kOverview;
  const Views& all = fleet ? fleet_views() : views();
  const auto found = all.find(options.view);
  if (found == all.end()) return std::nullopt;
  return found->second;
}

// What is the same, whatever is shown.
top::RunOptions looks_of(const TopOptions& options) {
  top::RunOptions result;
  result.interval_s = options.interval_s;
  result.ansi = ansi_of_output(options.theme);
  result.view = first_view(options).value_or(top::View::kOverview);
  return result;
}

top::RunOptions run_options(const TopOptions& options) {
  top::RunOptions result = looks_of(options);
  result.collecting = top::what_to_read(options.selection.process());
  result.complete = completer(options.selection.process());
  if (!options.selection.process()) result.past = last_minutes();
  return result;
}

// A recording needs nobody to complete it: what was not recorded is not known.
Result<top::RunOptions> recorded_options(const TopOptions& options) {
  top::RunOptions result = looks_of(options);
  result.collecting.process = options.selection.process();
  result.collecting.launches = true;
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

// The fleet as `ttmem fleet` tells it, on the screen.
int run_fleet(const TopOptions& asked) {
  if (!asked.format.is(kScreen)) {
    return complain("hosts are printed by `ttmem fleet --from URL --json`", kUsage);
  }
  if (!asked.past.at.empty()) return complain("--at is a moment of a recording", kUsage);
  if (asked.selection.process()) return complain("a process is of one host: see there", kUsage);
  const auto engine = open_engine(asked.past.file, asked.engine);
  if (!engine) return complain(engine.error().message, kUsage);
  top::RunOptions options = looks_of(asked);
  // An engine scrapes every 15 to 60 seconds.
  constexpr double kOftenEnough = 5;
  options.interval_s = std::max(options.interval_s, kOftenEnough);
  options.fleet = top::Fleet{*engine, asked.engine.question()};
  if (asked.once) {
    const auto answer = fleet::ask_fleet(*engine, options.fleet->question);
    if (!answer) return complain(answer.error().message, kFailed);
  }
  return show(options, asked);
}

int run_top(const TopOptions& asked) {
  if (!first_view(asked)) {
    return complain(fmt::format("there is no view {} of {}", asked.view,
                                asked.is_of_fleet() ? "a fleet" : "one host"),
                    kUsage);
  }
  if (asked.is_of_fleet()) return run_fleet(asked);
  if (!asked.format.is(kScreen)) return print_status(asked.selection, asked.past, asked.format);
  if (asked.past) {
    const auto options = recorded_options(asked);
    return options ? show(*options, asked) : complain(options.error().message, kNotFound);
  }
  const top::RunOptions options = run_options(asked);
  if (const std::string why = blindness(options); !why.empty()) return complain(why, kFailed);
  if (asked.once && asked.selection.process()) {  // the live screen waits for it instead
    collect::Collector collector(options.collecting);
    collector.refresh();
    ledger::Snapshot snapshot = collector.snapshot();
    complete(collector, options.collecting.process, snapshot);
    const std::string why = asked.selection.missing_process(snapshot);
    if (!why.empty()) return complain(why, kNotFound);
  }
  return show(options, asked);
}

constexpr const char* kTopExamples =
    "Views: overview, device, programs, process, events, dead, jobs, help; of a fleet hosts, "
    "host,\n"
    "jobs, help.\n"
    "Keys: arrows, Tab, Enter, / filter, s sort, Space pause, + and - refresh, ? help, q quit;\n"
    "the mouse works as well. Reading takes at most 3.5 % of one CPU core: if very many processes\n"
    "change all the time, updates come less often than asked for, down to one per second.\n"
    "Examples:\n"
    "  ttmem top                       every device and process, updated once per second\n"
    "  ttmem top --interval 0.1        ten times per second\n"
    "  ttmem top --view device         the cores of the first device\n"
    "  ttmem top --once --size 120x40  one screen as text, for a log or an e-mail\n"
    "  ttmem top --view jobs           the jobs: who is missing, who holds more, who died first\n"
    "  ttmem top --from http://prometheus:9090   every host that it scrapes, and the "
    "jobs\n"
    "  ttmem top --from night.ttm      a recording: arrows go through time, Space plays, ] goes "
    "to\n"
    "                                  the next failure or peak";

}  // namespace

void register_top(CLI::App& app, Action& action) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command =
      app.add_subcommand("top", "Show what each device holds, live on the full screen");
  command->footer(kTopExamples);
  command
      ->add_option("--interval", options->interval_s,
                   "Seconds between two updates; at least 5 with a URL")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(seconds_between(top::kShortestIntervalS, top::kLongestIntervalS));
  std::set<std::string> names;
  for (const Views* each : {&views(), &fleet_views()}) {
    for (const auto& [name, view] : *each) names.insert(name);
  }
  command->add_option("--view", options->view, "View to start with")
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  CLI::Option* from = add_past(*command, options->past);
  from->description(
      "Replay a recording of `ttmem record`, or show all hosts that the Prometheus, "
      "VictoriaMetrics or Thanos at this address scrapes");
  from->type_name("FILE|URL");
  add_engine_options(*command, *from, options->engine);
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
