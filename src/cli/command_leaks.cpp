// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/reading_options.hpp"
#include "cli/stop_signal.hpp"
#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "explain/leaks.hpp"

namespace ttmem::cli {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);
// A recording is looked at as often as the present, a short one more often.
constexpr ledger::TimeNs kLooksOfRecording = 2000;
constexpr ledger::TimeNs kShortestPauseNs = 1'000'000, kLongestPauseNs = 50'000'000;
constexpr std::uint64_t kLeastSteps = 10;  // fewer cannot tell growth from warming up

struct LeaksOptions {
  view::Selection selection;
  Past past;
  FormatChoice format;
  std::optional<std::uint64_t> steps;  // empty: all of a recording, some of the present
  bool mark = false;
};

std::uint64_t what(const ledger::EventView& event) {
  return std::hash<std::string>()(event.operation) * 31 + std::hash<std::string>()(event.line);
}

void take_events(collect::Collector& collector, explain::LeakWatch& watch) {
  for (const ledger::EventView& event : collector.take_events()) {
    explain::StepFinder& steps = watch.steps_of(event.process);
    if (event.kind == ledger::EventKind::kGap) steps.missed();
    if (event.kind == ledger::EventKind::kBufferAllocated && !event.kernel_binaries) {
      steps.allocated(what(event), event.time);
    }
  }
}

void look(const collect::Collector& collector, explain::LeakWatch& watch) {
  for (const ledger::DeviceView& device : collector.snapshot().devices) {
    std::map<std::uint64_t, explain::LeakLook> looks;
    for (const ledger::Space space : ledger::kDeviceSpaces) {
      for (ledger::LiveSpace& live : collector.live_spaces(device.id, space)) {
        explain::LeakLook& one = looks[live.process->key];
        one.process = live.process;
        one.device = device.id;
        one.spaces.push_back(std::move(live.picture));
      }
    }
    for (const auto& [key, one] : looks) watch.look(one);
  }
}

// Enter was pressed: a step of every process begins.
bool is_marked() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0 || (input.revents & POLLIN) == 0) return false;
  char typed[256];
  const ssize_t bytes = read(STDIN_FILENO, typed, sizeof typed);
  return bytes > 0 && std::find(typed, typed + bytes, '\n') != typed + bytes;
}

void mark_all(const collect::Collector& collector, explain::LeakWatch& watch) {
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    if (!process.alive) continue;
    watch.steps_of(std::make_shared<const ledger::ProcessName>(process))
        .mark(collector.snapshot().time);
  }
}

bool is_due(const collect::Collector& collector, const explain::LeakWatch& watch) {
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    const auto owner = std::make_shared<const ledger::ProcessName>(process);
    if (process.alive && watch.is_due(owner)) return true;
  }
  return false;
}

// All of a recording up to the moment, or so many steps of it.
int recorded_leaks(const LeaksOptions& options, const collect::Options& collecting) {
  auto collector = collect::Collector::open_recording(options.past.file, collecting);
  if (!collector) return complain(collector.error().message, kNotFound);
  collect::Replay& replay = *collector->replay();
  const auto until = collect::moment_named(options.past.at, replay, "--at");
  if (!until) return complain(until.error().message, kNotFound);
  replay.seek(replay.first());
  explain::LeakWatch watch;
  const ledger::TimeNs pause = std::clamp<ledger::TimeNs>(
      (*until - replay.first()) / kLooksOfRecording, kShortestPauseNs, kLongestPauseNs);
  do {
    collector->refresh();
    take_events(*collector, watch);
    if (is_due(*collector, watch)) look(*collector, watch);
  } while (watch.report().steps < options.steps.value_or(~0ull) && replay.at() < *until &&
           replay.step(std::min(pause, *until - replay.at())));
  Output output;
  options.format.print(leaks_formats(), output, collector->snapshot(), watch.report());
  return output.finish();
}

int leaks(const LeaksOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collecting.events = !options.mark;
  if (options.past) return recorded_leaks(options, collecting);
  collect::Collector collector(collecting);
  explain::LeakWatch watch;
  StopSignal stop;
  const bool progress = isatty(STDERR_FILENO) != 0;
  const std::uint64_t wanted = options.steps.value_or(kLeastSteps);
  std::uint64_t seen = 0;
  do {
    collector.refresh();
    if (!options.mark) take_events(collector, watch);
    if (options.mark && is_marked()) mark_all(collector, watch);
    if (is_due(collector, watch)) look(collector, watch);
    const std::uint64_t steps = watch.report().steps;
    if (progress && steps != seen) fmt::print(stderr, "\rstep {} of {} ", steps, wanted);
    seen = steps;
  } while (seen < wanted && !stop.wait(kPause));
  if (progress && seen > 0) fmt::print(stderr, "\n");
  if (const std::string why = unusable_directory(collector.directories()); !why.empty()) {
    return complain(why, kFailed);
  }
  Output output;
  options.format.print(leaks_formats(), output, collector.snapshot(), watch.report());
  return output.finish();
}

constexpr const char* kLeaksExamples =
    "Follows running processes for some steps, and says which lines hold more after each. A step "
    "is\n"
    "one round of the repeating sequence of operations that allocate; with --mark, you say when.\n"
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
      ->check(CLI::PositiveNumber);
  add_past(*command, options->past);
  command->add_flag("--mark", options->mark, "A step begins when you press Enter")
      ->excludes("--from");
  add_selection(*command, "pid", "Follow this process only; or PID/START", options->selection);
  options->format.offer(*command, leaks_formats(), "Print text or json");
  command->callback([options, &action] { action = [options] { return leaks(*options); }; });
}

}  // namespace ttmem::cli
