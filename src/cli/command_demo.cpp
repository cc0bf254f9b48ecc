// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/demo_scenarios.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "cli/stop_signal.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

// What a process of the demonstration does. It calls `ready` when everything is recorded.
using DemoBody = std::function<int(std::uint32_t index, const std::function<void()>& ready)>;

// The processes of `ttmem demo`: this one, or several children that die with it, however it ends.
class DemoProcesses {
 public:
  DemoProcesses() = default;
  // Ends the children that are left.
  ~DemoProcesses();
  DemoProcesses(const DemoProcesses&) = delete;
  DemoProcesses& operator=(const DemoProcesses&) = delete;

  // Starts `count` children and waits until each is ready. False: one could not be, and the rest
  // were not started.
  bool start(std::uint32_t count, const DemoBody& body);
  const std::vector<pid_t>& pids() const { return pids_; }
  // Some are still running.
  bool any_left();

 private:
  std::vector<pid_t> pids_;
  std::vector<pid_t> running_;
};

// A child that outlived its parent by a moment must not go on: PDEATHSIG only fires for a parent
// that dies after the call.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

[[noreturn]] void be_child(pid_t parent, std::uint32_t index, int ready_pipe,
                           const DemoBody& body) {
  die_with(parent);
  const std::string name = fmt::format("ttmem-demo-{}", index);
  prctl(PR_SET_NAME, name.c_str());
  const int code = body(index, [&] {
    const char byte = 1;
    while (write(ready_pipe, &byte, 1) < 0 && errno == EINTR) {
    }
    close(ready_pipe);
  });
  exit(code);
}

// Waits for the child's byte; false when it ended without one.
bool is_ready(int pipe) {
  char byte = 0;
  ssize_t got = -1;
  do {
    got = read(pipe, &byte, 1);
  } while (got < 0 && errno == EINTR);
  close(pipe);
  return got == 1;
}

bool DemoProcesses::start(std::uint32_t count, const DemoBody& body) {
  const pid_t parent = getpid();
  for (std::uint32_t index = 1; index <= count; ++index) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return false;
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
      close(ready[0]);
      be_child(parent, index, ready[1], body);
    }
    close(ready[1]);
    pids_.push_back(child);
    running_.push_back(child);
    if (!is_ready(ready[0])) return false;
  }
  return true;
}

bool DemoProcesses::any_left() {
  std::erase_if(running_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; });
  return !running_.empty();
}

DemoProcesses::~DemoProcesses() {
  for (const pid_t pid : running_) kill(pid, SIGTERM);
  for (const pid_t pid : running_) waitpid(pid, nullptr, 0);
}

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
    say("ttmem: recording is off; unset TTMEM_DISABLE\n");
    return false;
  }
  const int error = ttmem_open();
  if (error == 0) return true;
  say("ttmem: cannot record: {}; set TTMEM_DIR to a directory in shared memory that you may "
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
      fmt::format("ttmem demo: {} on {}, recorded by process {}; holding for {} s\n"
                  "Look at it from another terminal with `ttmem status`.\n",
                  options.scenario, view::count_text(options.devices, "device"),
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
    say("ttmem: a process of the demonstration could not be started\n");
    return kFailed;
  }
  announce(options, processes.pids());
  while (processes.any_left() && !stop.wait(kIdlePause)) {
  }
  return kOk;
}

constexpr const char* kDemoExamples =
    "Only the devices and the workload are made up: recording and reading work as always.\n"
    "Examples:\n"
    "  ttmem demo &                        the example of the documentation, for a minute\n"
    "  ttmem demo --processes 3 --devices 8\n"
    "  ttmem demo --scenario busy --hold 600";

}  // namespace

void register_demo(CLI::App& app, Action& action) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand("demo", "Record a made-up workload; needs no device");
  command->footer(kDemoExamples);
  command
      ->add_option("--scenario", options->scenario,
                   "seeds: the example of the documentation; busy: much changes")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"seeds", "busy"}));
  command->add_option("--devices", options->devices, "Number of made-up devices")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  command->add_option("--processes", options->processes, "Number of processes")
      ->type_name("P")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_option("--hold", options->hold_seconds, "Seconds until it ends")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(seconds_between(0, 365 * 86400));
  command->callback([options, &action] {
    action = [options] {
      return options->processes == 1 ? run_alone(*options) : run_children(*options);
    };
  });
}

}  // namespace ttmem::cli
