// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/reading_options.hpp"
#include "cli/record_program.hpp"
#include "cli/say.hpp"
#include "cli/stop_signal.hpp"
#include "collect/directories.hpp"
#include "inject/launch/launch.hpp"
#include "record/recorder.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct RecordOptions {
  std::string output;
  std::vector<std::int32_t> pids;
  bool launches = false, force = false, quiet = false, redact = false;
  std::uint64_t max_bytes = 0;
  std::uint32_t parts = 2;
  double duration_s = 0;
  std::vector<std::string> command;
  std::optional<inject::Environment> environment;  // of the command; empty: as `ttmem run` has it
};

std::string default_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64] = {};
  std::strftime(text, sizeof text, "ttmem-%Y%m%d-%H%M%S.ttm", &local);
  return text;
}

// The hooks as `ttmem run` has them.
Result<inject::Environment> environment_of(const RecordOptions& options) {
  if (options.environment) return *options.environment;
  const auto preload = inject::find_preload();
  if (!preload) return preload.error();
  inject::Lines lines;
  lines.off = inject::lines_are_off();
  if (const auto start = inject::find_python_start(); start && !lines.off) {
    lines.python_start = *start;
  }
  return inject::environment_with(
      *preload, lines, {.launches = options.launches, .events = record::kRingOfRecorded});
}

// -1: it could not be started.
pid_t start_program(const RecordOptions& options, const StopSignal& stop) {
  const auto environment = environment_of(options);
  if (!environment) return complain(environment.error().message, -1);
  const pid_t child = ::fork();
  if (child == 0) {
    stop.let_through();
    ::_exit(inject::become(options.command, *environment));
  }
  return child;
}

std::string summary(const record::Progress& progress, const std::string& path) {
  std::string text = fmt::format("{} of {}, {} in {}", view::count_text(progress.events, "event"),
                                 view::count_text(progress.processes, "process"),
                                 view::bytes_text(progress.bytes), path);
  if (progress.missed > 0) text += ", " + view::count_text(progress.missed, "event") + " missed";
  return text;
}

bool is_running(std::int32_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

// Also of one that ended, or runs in a container.
bool is_tracked(std::int32_t pid) {
  for (const collect::Directory& directory : collect::find_directories({}, "")) {
    const auto listing = collect::list_segments(directory);
    if (!listing) continue;
    const auto names_it = [&](const collect::Found& file) {
      return collect::pid_of_name(file.name) == pid;
    };
    if (std::ranges::any_of(listing->files, names_it)) return true;
  }
  return false;
}

int complain_of_missing(std::int32_t pid) {
  return complain(
      fmt::format("process {} is not tracked; record a program from its start with `ttmem record "
                  "-- PROGRAM`, or see all with `ttmem status`",
                  pid),
      kNotFound);
}

class Session {
 public:
  Session(const RecordOptions& options, record::Recorder& recorder, pid_t child,
          const StopSignal& stop)
      : options_(options),
        recorder_(recorder),
        child_(child),
        stop_(stop),
        terminal_(::isatty(2) != 0) {}

  int run() {
    do {
      recorder_.look();
      tell();
    } while (!is_over() && !is_stopped(stop_.take(recorder_.pause())));
    const auto error = recorder_.finish();
    if (terminal_ && !options_.quiet) say("\r\x1b[K");
    const record::Progress& progress = recorder_.progress();
    if (!options_.quiet) {
      say("ttmem: recorded {}\n", summary(progress, options_.output));
    }
    for (const std::string& line : progress.unreadable) say("ttmem: {}\n", line);
    if (error) return complain(error->message, kFailed);
    if (!progress.problem.empty()) return complain(progress.problem, kFailed);
    if (!options_.pids.empty() && progress.processes == 0 && progress.unreadable.empty()) {
      std::remove(options_.output.c_str());  // with nothing in it, it is only in the way
      return complain_of_missing(options_.pids.front());
    }
    return child_ > 0 && code_ ? *code_ : kOk;
  }

 private:
  // A program decides itself when it ends, and what it still does is recorded. Twice is enough.
  bool is_stopped(const std::optional<StopSignal::Came>& came) {
    if (!came) return false;
    if (child_ <= 0 || code_ || ++stops_ > 1) return true;
    if (came->from_process) ::kill(child_, came->number);
    return false;
  }
  // Until the program has ended, all processes of --pid have, or the time is over. One that runs
  // may begin to use a device.
  bool is_over() {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (options_.duration_s > 0 && seconds >= options_.duration_s) return true;
    if (child_ > 0) {
      int status = 0;
      if (!code_ && ::waitpid(child_, &status, WNOHANG) == child_) {
        code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      return code_ && recorder_.progress().running == 0;
    }
    const record::Progress& progress = recorder_.progress();
    if (options_.pids.empty() || progress.running > 0) return false;
    return progress.processes > 0 || std::ranges::none_of(options_.pids, is_running);
  }
  void tell() {
    if (!terminal_ || options_.quiet || Clock::now() < tell_at_) return;
    tell_at_ = Clock::now() + 1s;
    const record::Progress& progress = recorder_.progress();
    const std::string& problem = progress.problem;
    const double seconds = std::chrono::duration<double>(Clock::now() - told_).count();
    say("\r\x1b[K{}, {}/s{}{}", summary(progress, options_.output),
        view::exact_text(static_cast<std::uint64_t>(
            static_cast<double>(progress.events - told_events_) / std::max(seconds, 0.001))),
        problem.empty() ? "" : "; ", problem);
    told_ = Clock::now();
    told_events_ = progress.events;
  }

  const RecordOptions& options_;
  record::Recorder& recorder_;
  pid_t child_;
  const StopSignal& stop_;
  bool terminal_;
  std::optional<int> code_;
  int stops_ = 0;  // signals that came
  Clock::time_point begin_ = Clock::now(), tell_at_ = begin_, told_ = begin_;
  std::uint64_t told_events_ = 0;
};

int record_processes(RecordOptions& options) {
  for (const std::int32_t pid : options.pids) {
    if (!is_running(pid) && !is_tracked(pid)) return complain_of_missing(pid);
  }
  if (options.output.empty()) options.output = default_name();
  record::RecordOptions recording;
  recording.path = options.output;
  recording.replace = options.force;
  recording.launches = options.launches;
  recording.redact = options.redact;
  recording.max_bytes = options.max_bytes;
  recording.parts = options.parts;
  if (!options.pids.empty()) {
    recording.wanted = [pids = options.pids](std::int32_t pid) {
      return std::ranges::find(pids, pid) != pids.end();
    };
  }
  pid_t child = 0;
  if (!options.command.empty()) {
    recording.wanted = [&child](std::int32_t pid) { return record::is_of_family(pid, child); };
  }
  const StopSignal stop;  // from before there is a file, so that a file is always finished
  auto recorder = record::Recorder::start(recording);
  if (!recorder) return complain(recorder.error().message, kFailed);
  if (!options.command.empty()) {
    child = start_program(options, stop);
    if (child < 0) return kFailed;
  }
  return Session(options, **recorder, child, stop).run();
}

}  // namespace

int record_program(const std::string& file, bool launches, const std::vector<std::string>& command,
                   const inject::Environment& environment) {
  RecordOptions options;
  options.output = file;
  options.launches = launches;
  options.command = command;
  options.environment = environment;
  return record_processes(options);
}

namespace {

constexpr const char* kRecordExamples =
    "Records every process that ttmem tracks, those that start later too, until Ctrl-C. The file\n"
    "is yours alone (mode 0600). Whatever happens to the recorder or to the processes, it can be\n"
    "read up to the last second.\n"
    "Examples:\n"
    "  ttmem record -o night.ttm                  all processes, until Ctrl-C\n"
    "  ttmem record -o run.ttm -- python model.py a program and its children, until they end\n"
    "  ttmem record --pid 4711 --duration 60      one process, for a minute\n"
    "  ttmem record -o last.ttm --max-size 1G     at most 1 GiB; the newest part is kept\n"
    "  ttmem status --from night.ttm --at failure what was held when an allocation failed";

}  // namespace

void register_record(CLI::App& app, Action& action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command = app.add_subcommand("record", "Record what happens into a file");
  command->footer(kRecordExamples);
  command
      ->add_option("-o,--output", options->output, "File to write; by default named after the time")
      ->type_name("FILE");
  command->add_flag("--force", options->force, "Overwrite an existing file");
  command->add_option("--pid", options->pids, "Only these processes, until they end")
      ->type_name("PID")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(positive_number);
  command->add_flag("--launches", options->launches,
                    "Record the launches of programs at every look, not ten times per second");
  const auto take_size = [options](const std::string& text) {
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 20, kMost = std::uint64_t{1} << 50;
    options->max_bytes = view::bytes_in(text).value_or(0);
    if (options->max_bytes < kLeast || options->max_bytes > kMost) {
      throw CLI::ValidationError("--max-size", "must be at least 1M, such as 500M or 2G");
    }
  };
  CLI::Option* max_size =
      command
          ->add_option_function<std::string>("--max-size", take_size,
                                             "Keep at most this much, such as 500M or 2G")
          ->type_name("SIZE");
  command
      ->add_option("--parts", options->parts,
                   "With --max-size: spread over N files; FILE.1 is older than FILE")
      ->type_name("N")
      ->check(CLI::Range(1, 100))
      ->needs(max_size);
  command->add_option("--duration", options->duration_s, "Stop after this many seconds")
      ->type_name("SECONDS")
      ->check(seconds_between(0.001, 1e9));
  command->add_flag("--redact", options->redact,
                    "Replace users, hosts, commands and paths by numbers");
  command->add_flag("--quiet", options->quiet, "Print no progress and no summary");
  command->prefix_command();
  command->callback([options, command, &action] {
    options->command = program_of(*command);
    action = [options] { return record_processes(*options); };
  });
}

}  // namespace ttmem::cli
