// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "cli/stop_signal.hpp"
#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "explain/leak_follower.hpp"

namespace ttmem::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);
// Of a recording, unless it is long. They follow events: steps may come in bursts.
constexpr std::uint64_t kLooksOfRecording = 5000;
constexpr std::uint64_t kLeastSteps = 10;  // fewer cannot tell growth from warming up

struct LeaksOptions {
  view::Selection selection;
  Past past;
  FormatChoice format;
  std::optional<std::uint64_t> steps;  // empty: all of a recording, some of the present
  bool mark = false;
};

// Enter was pressed: a step of every process begins.
bool is_marked() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0 || (input.revents & POLLIN) == 0) return false;
  char typed[256];
  const ssize_t bytes = read(STDIN_FILENO, typed, sizeof typed);
  return bytes > 0 && std::find(typed, typed + bytes, '\n') != typed + bytes;
}

// Whether nobody is left who could make another step. One process was asked for by its number: no
// other will come.
bool is_over(const ledger::Snapshot& snapshot, const explain::LeakReport& report, bool one) {
  const auto is_alive = [](const ledger::ProcessView& process) { return process.alive; };
  return (one || !report.processes.empty()) && std::ranges::none_of(snapshot.processes, is_alive);
}

bool is_enough(const explain::LeakReport& report, std::uint64_t steps) {
  return std::ranges::any_of(report.processes, [&](const explain::WatchedProcess& each) {
    return each.is_known && each.steps >= steps;
  });
}

// The steps, on a terminal, while one waits.
class Progress {
 public:
  explicit Progress(std::uint64_t wanted) : wanted_(wanted) {}
  ~Progress() {
    if (is_shown_) say("\n");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::uint64_t steps) {
    if (!is_terminal_ || (is_shown_ && shown_ == steps)) return;
    say("\rstep {} of {}, Ctrl-C reports now ", steps, wanted_);
    is_shown_ = true;
    shown_ = steps;
  }

 private:
  bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  bool is_shown_ = false;
  std::uint64_t wanted_, shown_ = 0;
};

// Takes what happened, and looks at who began a step.
void watch(collect::Collector& collector, explain::LeakFollower& follower, bool with_events) {
  const ledger::Snapshot& snapshot = collector.snapshot();
  if (with_events) follower.take(collector.take_events());
  if (!follower.is_due(snapshot)) return;
  follower.look(snapshot, [&](std::uint32_t device, ledger::Space space) {
    return collector.live_spaces(device, space);
  });
}

explain::LeakReport follow(collect::Collector& collector, const LeaksOptions& options) {
  const std::uint64_t wanted = options.steps.value_or(kLeastSteps);
  explain::LeakFollower follower;
  StopSignal stop;
  Progress progress(wanted);
  explain::LeakReport report;
  do {
    collector.refresh();
    if (options.mark && is_marked()) follower.mark_all(collector.snapshot());
    watch(collector, follower, !options.mark);
    report = follower.report();
    progress.show(report.steps);
    if (is_over(collector.snapshot(), report, options.selection.process().has_value())) break;
  } while (!is_enough(report, wanted) && !stop.wait(kPause));
  return report;
}

std::uint64_t events_of(const collect::Replay& replay) {
  std::uint64_t events = 0;
  for (const collect::ReplayTrack& track : replay.tracks()) {
    for (const recording::IndexEntry& block : track.blocks()) {
      if (recording::kind_of(block) == recording::BlockKind::kEvents) events += block.header.count;
    }
  }
  return events;
}

// All of a recording up to the moment, or so many steps of it.
int recorded_leaks(const LeaksOptions& options, const collect::Options& collecting) {
  auto collector = collect::Collector::open_recording(options.past.file, collecting);
  if (!collector) return complain(collector.error().message, kNotFound);
  collect::Replay& replay = *collector->replay();
  const auto until = collect::moment_named(options.past.at, replay);
  if (!until) return complain(until.error().message, kNotFound);
  replay.seek(replay.first());
  explain::LeakFollower follower;
  const std::uint64_t between = std::max<std::uint64_t>(1, events_of(replay) / kLooksOfRecording);
  do {
    collector->refresh();
    watch(*collector, follower, true);
  } while (!is_enough(follower.report(), options.steps.value_or(~0ull)) && replay.at() < *until &&
           replay.step(*until - replay.at(), between));
  if (const std::string why = options.selection.missing_process(collector->snapshot());
      !why.empty()) {
    return complain(why, kNotFound);
  }
  Output output;
  options.format.print(leaks_formats(), output, collector->snapshot(), follower.report());
  return output.finish();
}

int leaks(const LeaksOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collecting.events = !options.mark;
  if (options.past) return recorded_leaks(options, collecting);
  collect::Collector collector(collecting);
  const explain::LeakReport report = follow(collector, options);
  if (const std::string why = unusable_directory(collector.directories()); !why.empty()) {
    return complain(why, kFailed);
  }
  if (const std::string why = options.selection.missing_process(collector.snapshot());
      !why.empty()) {
    return complain(why, kNotFound);
  }
  Output output;
  options.format.print(leaks_formats(), output, collector.snapshot(), report);
  return output.finish();
}

constexpr const char* kLeaksExamples =
    "Follows running processes for some steps, and says which lines hold more after each. The "
    "program\n"
    "says where its steps begin with ttmem.step(); where it does not, a step is one round of the\n"
    "repeating sequence of operations that allocate; with --mark, you say when.\n"
    "Weights, kernel binaries and traces are never suspected; programs that pile up in the cache "
    "and\n"
    "an L1 whose lowest address falls are told apart. Ctrl-C ends earlier, with what is known "
    "then.\n"
    "Examples:\n"
    "  ttmem leaks              ten steps of whatever runs\n"
    "  ttmem leaks --steps 100 --pid 4711\n"
    "  ttmem leaks --mark       press Enter at the beginning of each step\n"
    "  ttmem leaks --from night.ttm              all of a recording\n"
    "  ttmem leaks --from night.ttm --at failure what grew until something failed";

}  // namespace

void register_leaks(CLI::App& app, Action& action) {
  auto options = std::make_shared<LeaksOptions>();
  CLI::App* command = app.add_subcommand("leaks", "Find what grows from step to step");
  command->footer(kLeaksExamples);
  command
      ->add_option("--steps", options->steps,
                   "Number of steps to follow: 10, or all of a recording")
      ->type_name("N")
      ->check(positive_number);
  add_past(*command, options->past);
  command->add_flag("--mark", options->mark, "A step begins when you press Enter")
      ->excludes("--from");
  add_selection(*command, "pid", "Follow this process only; or PID/START", options->selection);
  options->format.offer(*command, leaks_formats(), "Print text or json");
  command->callback([options, &action] { action = [options] { return leaks(*options); }; });
}

}  // namespace ttmem::cli
