// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/demo_processes.hpp"
#include "cli/demo_scenarios.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/stop_signal.hpp"

namespace ttmem::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kStepPause = std::chrono::milliseconds(2);
constexpr auto kIdlePause = std::chrono::milliseconds(50);

struct DemoOptions {
  std::string scenario = "seeds";
  std::uint32_t devices = 1, processes = 1;
  double hold_seconds = 60;
};

Clock::time_point end_of(const DemoOptions& options) {
  return Clock::now() +
         std::chrono::milliseconds(static_cast<std::int64_t>(options.hold_seconds * 1000.0));
}

bool is_recording() {
  if (!ttmem_enabled()) {
    fmt::print(stderr, "ttmem: recording is off; unset TTMEM_DISABLE\n");
    return false;
  }
  const int error = ttmem_open();
  if (error == 0) return true;
  fmt::print(stderr,
             "ttmem: cannot record: {}; set TTMEM_DIR to a directory in shared memory that you may "
             "write\n",
             std::strerror(error));
  return false;
}

// Records, says so, and lives on until the time is over or a signal comes.
int live(const DemoOptions& options, std::uint32_t index, const std::function<void()>& ready) {
  StopSignal stop;
  if (!is_recording()) return kFailed;
  std::optional<BusyWorkload> busy;
  if (options.scenario == "busy") {
    busy.emplace(options.devices, index);
  } else {
    record_seeds(options.devices);
  }
  ready();
  const Clock::time_point end = end_of(options);
  while (Clock::now() < end && !stop.wait(busy ? kStepPause : kIdlePause)) {
    if (busy) busy->step();
  }
  ttmem_close();
  return kOk;
}

void announce(const DemoOptions& options, const std::vector<pid_t>& pids) {
  Output::print(
      fmt::format("ttmem demo: {} on {} device{}, recorded by process {}; holding for {} s\n"
                  "Look at it from another terminal with `ttmem status`.\n",
                  options.scenario, options.devices, options.devices == 1 ? "" : "s",
                  fmt::join(pids, " "), options.hold_seconds));
}

int run_alone(const DemoOptions& options) {
  return live(options, 1, [&] { announce(options, {getpid()}); });
}

int run_children(const DemoOptions& options) {
  StopSignal stop;
  DemoProcesses processes;
  const bool started = processes.start(
      options.processes, [&](std::uint32_t index, const std::function<void()>& ready) {
        return live(options, index, ready);
      });
  if (!started) {
    fmt::print(stderr, "ttmem: a process of the demonstration could not be started\n");
    return kFailed;
  }
  announce(options, processes.pids());
  while (processes.any_left() && !stop.wait(kIdlePause)) {
  }
  return kOk;
}

constexpr const char* kDemoExamples =
    "Needs no device: the chips are made up, everything else is real.\n"
    "Examples:\n"
    "  ttmem demo &                        the worked example of the documentation, for a minute\n"
    "  ttmem demo --processes 3 --devices 8\n"
    "  ttmem demo --scenario busy --hold 600";

}  // namespace

void register_demo(CLI::App& app, Action& action) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand("demo", "Record a made-up workload, to have a look");
  command->footer(kDemoExamples);
  command
      ->add_option("--scenario", options->scenario, "seeds: a worked example; busy: a lively one")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"seeds", "busy"}));
  command->add_option("--devices", options->devices, "Chips of the made-up mesh")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  command->add_option("--processes", options->processes, "More than one: children that die with it")
      ->type_name("P")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_option("--hold", options->hold_seconds, "How long to hold what was recorded")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0 * 365));
  command->callback([options, &action] {
    action = [options] {
      return options->processes == 1 ? run_alone(*options) : run_children(*options);
    };
  });
}

}  // namespace ttmem::cli
