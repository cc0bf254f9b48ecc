// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "cli/stop_signal.hpp"
#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"

namespace ttmem::cli {
namespace {

constexpr auto kFollowPause = std::chrono::milliseconds(100);

struct EventsOptions {
  view::Selection selection;
  Past past;
  FormatChoice format;
  bool follow = false, detail = false;
};

void print_new(collect::Collector& collector, const EventsOptions& options, Output& output) {
  collector.refresh();
  for (const auto& event : collector.take_events()) {
    const EventLine line{&event, collector.snapshot().process(event.process->key), options.detail};
    options.format.print(event_formats(), output, line);
  }
  output.flush();
}

// Of a recording, from its start to the moment that was asked for.
int recorded_events(const EventsOptions& options, const collect::Options& collecting) {
  auto collector = collect::Collector::open_recording(options.past.file, collecting);
  if (!collector) return complain(collector.error().message, kNotFound);
  collect::Replay& replay = *collector->replay();
  const auto until = collect::moment_named(options.past.at, replay);
  if (!until) return complain(until.error().message, kNotFound);
  Output output;
  replay.seek(replay.first());
  do {
    print_new(*collector, options, output);
  } while (!output.is_over() && replay.at() < *until && replay.step(*until - replay.at()));
  return output.finish();
}

int events(const EventsOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collecting.events = true;
  if (options.past) return recorded_events(options, collecting);
  collect::Collector collector(collecting);
  Output output;
  StopSignal stop;
  print_new(collector, options, output);
  if (const std::string why = unusable_directory(collector.directories()); !why.empty()) {
    return complain(why, kFailed);
  }
  if (const std::string why = options.selection.missing_process(collector.snapshot());
      !why.empty()) {
    return complain(why, kNotFound);
  }
  while (options.follow && !output.is_over() && !stop.wait(kFollowPause)) {
    print_new(collector, options, output);
  }
  return output.finish();
}

constexpr const char* kEventsExamples =
    "Each process keeps its last 8,192 events. A reader that was too slow prints how many it\n"
    "missed; totals stay exact.\n"
    "Examples:\n"
    "  ttmem events                           what is still known, of all processes in order\n"
    "  ttmem events --follow                  the same, and then what happens, until Ctrl-C\n"
    "  ttmem events --from night.ttm          all of a recording\n"
    "  ttmem events --from night.ttm --at failure | tail   the last ones before it failed\n"
    "  ttmem events --pid 4711                the last things a process did, even if it died\n"
    "  ttmem events --json --follow | jq -c 'select(.event == \"failed\")'\n"
    "  ttmem events --format legacy --detail  the original's log lines";

}  // namespace

void register_events(CLI::App& app, Action& action) {
  auto options = std::make_shared<EventsOptions>();
  CLI::App* command = app.add_subcommand("events", "List what happened, one event per line");
  command->footer(kEventsExamples);
  command->add_flag("--follow", options->follow, "Keep printing new events, until Ctrl-C");
  add_past(*command, options->past)->excludes("--follow");
  add_selection(*command, "pid", "Only events of this process; PID/START if several have the id",
                options->selection);
  options->format.offer(
      *command, event_formats(),
      "Print text, json, or legacy: the log lines of the original allocation_server_poc");
  command->add_flag("--detail", options->detail,
                    "With --format legacy: also size and cores of each load");
  command->callback([options, &action] {
    if (options->detail && !options->format.is("legacy")) {
      throw CLI::RequiresError("--detail", "--format legacy");
    }
    action = [options] { return events(*options); };
  });
}

}  // namespace ttmem::cli
