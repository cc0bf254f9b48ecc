// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/selection.hpp"
#include "cli/stop_signal.hpp"
#include "collect/collector.hpp"
#include "legacy/event_lines.hpp"
#include "view/events_text.hpp"
#include "view/json.hpp"

namespace ttmem::cli {
namespace {

constexpr auto kFollowPause = std::chrono::milliseconds(100);

struct EventsOptions {
  Selection selection;
  bool follow = false, json = false, detail = false;
  std::string format;
};

std::string line(const ledger::EventView& event, const ledger::Snapshot& snapshot,
                 const EventsOptions& options, const view::Style& style) {
  if (options.json) return view::event_json(event) + "\n";
  if (options.format != "legacy") return view::event_text(event, style);
  return legacy::event_lines(event, snapshot.process(event.process->key), {options.detail});
}

void print_new(collect::Collector& collector, const EventsOptions& options, Output& output) {
  collector.refresh();
  for (const auto& event : collector.take_events()) {
    output.write(line(event, collector.snapshot(), options, output.style()));
  }
  output.flush();
}

int events(const EventsOptions& options) {
  collect::Options collecting;
  collecting.pid = options.selection.pid;
  collecting.events = true;
  collect::Collector collector(collecting);
  Output output;
  StopSignal stop;
  print_new(collector, options, output);
  if (const std::string why = unusable_directory(collector.directories()); !why.empty()) {
    fmt::print(stderr, "ttmem: {}\n", why);
    return kFailed;
  }
  while (options.follow && !output.is_over() && !stop.wait(kFollowPause)) {
    print_new(collector, options, output);
  }
  return output.finish();
}

constexpr const char* kEventsExamples =
    "Each process keeps its last 8,192 events. A reader that was too slow prints how many it "
    "missed;\n"
    "totals stay exact.\n"
    "Examples:\n"
    "  ttmem events                           what is still known, merged over all processes\n"
    "  ttmem events --follow                  and what comes, until Ctrl-C\n"
    "  ttmem events --pid 4711                the last things a process did, also after its death\n"
    "  ttmem events --json --follow | jq -c 'select(.event == \"failed\")'\n"
    "  ttmem events --format legacy --detail  the original's log lines";

}  // namespace

void register_events(CLI::App& app, Action& action) {
  auto options = std::make_shared<EventsOptions>();
  CLI::App* command = app.add_subcommand("events", "What happened, one line an event");
  command->footer(kEventsExamples);
  command->add_flag("--follow", options->follow, "Go on until Ctrl-C");
  auto* json = command->add_flag("--json", options->json, "One object of docs/json.md a line");
  command->add_option("--pid", options->selection.pid, "Only of this process")->type_name("PID");
  auto* format = command->add_option("--format", options->format, "The original's log lines")
                     ->type_name("legacy")
                     ->check(CLI::IsMember({"legacy"}))
                     ->excludes(json);
  command->add_flag("--detail", options->detail, "With legacy: sizes and cores of each load too")
      ->needs(format);
  command->callback([options, &action] { action = [options] { return events(*options); }; });
}

}  // namespace ttmem::cli
