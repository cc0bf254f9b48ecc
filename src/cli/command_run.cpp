// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/child.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/explained.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/record_program.hpp"
#include "cli/say.hpp"
#include "collect/collector.hpp"
#include "collect/native_names.hpp"
#include "collect/procfs.hpp"
#include "inject/launch/launch.hpp"
#include "inject/launch/recording_check.hpp"
#include "record/recorder.hpp"
#include "view/printable.hpp"

namespace ttmem::cli {
namespace {

struct RunOptions {
  bool print_env = false;
  bool lines = false;  // a word of before: lines are told anyway
  bool no_lines = false;
  bool strict = false;
  inject::Extras extras;
  bool explain = false;
  std::string record;  // a file; "" = no recording
  std::vector<std::string> command;
};

constexpr int kMostGenerations = 64;

// The processes that the program starts: it may be a script, or a launcher. Who is whose child is
// known only while they run, and a model may fail a moment after it was recorded first: so /proc
// is asked, where it stands from its start.
class Family {
 public:
  void look() { look_below(::getpid(), kMostGenerations); }

  // The verdict and the first cure of the last failure in it.
  void print_hint() {
    collect::Collector collector{collect::Options{}};
    collector.refresh();
    std::set<std::uint64_t> members;
    for (const ledger::ProcessView& process : collector.snapshot().processes) {
      const std::pair seen{process.host_pid.value_or(process.pid), process.start};
      if (seen_.contains(seen)) members.insert(process.key);
    }
    const auto is_member = [&](const ledger::ProcessName& process) {
      return members.contains(process.key);
    };
    const auto found = explained(collector, is_member, std::nullopt);
    if (found) say("{}", view::hint_text(*found, view::Style(view::Ansi{})));
  }

 private:
  void look_below(std::int32_t pid, int generations) {
    if (generations == 0) return;
    namespace fs = std::filesystem;
    std::error_code gone;
    for (fs::directory_iterator task(fmt::format("/proc/{}/task", pid), gone), end;
         !gone && task != end; task.increment(gone)) {
      std::ifstream children(task->path() / "children");
      for (std::int32_t child = 0; children >> child;) {
        const auto facts = procfs_.process(child);
        if (!facts || !*facts) continue;
        seen_.emplace(child, (*facts)->start_ticks);
        look_below(child, generations - 1);
      }
    }
  }

  collect::ProcFs procfs_{""};
  std::set<std::pair<std::int32_t, std::uint64_t>> seen_;  // pid and start
};

// Stays as the parent, and says at the end why it failed.
int run_and_explain(const RunOptions& options, const inject::Environment& environment) {
  Family family;
  const Ending ending = run_child([&] { return inject::become(options.command, environment); },
                                  [&] { family.look(); });
  if (ending.pid < 0) return complain("no child process can be made", kFailed);
  if (ending.code != 0 || ending.signal != 0) family.print_hint();
  return end_as(ending);
}

int run_program(const RunOptions& options) {
  const auto preload = inject::find_preload();
  if (!preload) {
    say("ttmem: {}\n", preload.error().message);
    return kFailed;
  }
  inject::Lines lines;
  lines.off = options.no_lines || inject::lines_are_off();
  const auto start = inject::find_python_start();
  if (!start && options.lines && !lines.off) {
    say("ttmem: {}\n", start.error().message);
    return kFailed;
  }
  lines.python_start = start ? *start : "";
  inject::Extras extras = options.extras;
  if (!options.record.empty()) extras.events = record::kRingOfRecorded;
  const auto environment = inject::environment_with(*preload, lines, extras);
  if (options.print_env) return Output::print(inject::as_shell_text(environment));
  if (options.command.empty()) {
    say("ttmem: name the program to run, as in `ttmem run python model.py`\n");
    return kUsage;
  }
  if (const auto check = inject::check_recording();
      !check.problem.empty() && (options.strict || !check.disabled)) {
    say("ttmem: nothing will be recorded: {}: {}\n", view::printable(check.problem), check.remedy);
    if (options.strict) return kFailed;
  }
  if (options.extras.native_stacks && !collect::can_name_native_calls()) {
    say("ttmem: this build has no libdw: native stacks will show modules and addresses\n");
  }
  if (!options.record.empty()) {
    return record_program(options.record, options.extras.launches, options.command, environment);
  }
  if (options.explain) return run_and_explain(options, environment);
  return inject::become(options.command, environment);
}

std::string job_problem(const std::string& name) {
  constexpr std::size_t kMostBytes = 128;
  if (!name.empty() && name.size() <= kMostBytes &&
      name.find_first_of("\r\n") == std::string::npos) {
    return {};
  }
  return "a job is named by one line of at most 128 bytes";
}

constexpr const char* kRunExamples =
    "The program behaves as without ttmem: same exit code, signals, terminal and process id.\n"
    "Programs that never use TT-Metal, such as the compilers it starts, are hardly slowed down.\n"
    "Recording needs LD_PRELOAD, which has no effect on setuid and statically linked programs and\n"
    "does not reach the other hosts of mpirun: write `mpirun -n 4 ttmem run python model.py`.\n"
    "If nothing can be recorded, one line on standard error says why before the program starts.\n"
    "Examples:\n"
    "  ttmem run python model.py             then, in another terminal: ttmem status\n"
    "  ttmem run --no-lines python model.py  without file, line and function of each allocation\n"
    "  ttmem run --native-stacks ./model     then: ttmem status --by stack\n"
    "  ttmem run --launches python model.py  then: ttmem events shows each launch, in order\n"
    "  ttmem run --job train-7 python model.py   then: ttmem status --by job\n"
    "  ttmem run --explain python model.py   stays as the parent; at a failure it says what helps\n"
    "  ttmem run --record run.ttm python model.py  then: ttmem top --from run.ttm\n"
    "  ttmem run -- pytest -x tests          everything after -- belongs to the program\n"
    "  eval \"$(ttmem run --print-env)\"       for services, notebooks and containers";

}  // namespace

void register_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a program and record its device memory");
  command->footer(kRunExamples);
  command->add_flag("--print-env", options->print_env,
                    "Print the environment variables to set, and exit");
  CLI::Option* lines = command->add_flag(
      "--lines", options->lines, "Record the Python line behind each allocation (the default)");
  command
      ->add_flag("--no-lines", options->no_lines, "Record no Python lines, as with TTMEM_LINES=0")
      ->excludes(lines);
  command->add_flag("--native-stacks", options->extras.native_stacks,
                    "Record the native stack of each allocation of a C++ program, as with "
                    "TTMEM_NATIVE_STACKS=1");
  command->add_flag("--strict", options->strict,
                    "Do not start the program if nothing would be recorded");
  command->add_flag("--launches", options->extras.launches,
                    "Record every launch of a program as an event, as with TTMEM_LAUNCHES=1");
  command
      ->add_option("--job", options->extras.job,
                   "Count the program as part of this job, as with TT_MEM_JOB=NAME")
      ->type_name("NAME")
      ->check(job_problem);
  CLI::Option* explain =
      command->add_flag("--explain", options->explain,
                        "If the program fails, say why something did not fit and what helps");
  command
      ->add_option("--record", options->record,
                   "Record what happens into this file, as `ttmem record -o FILE -- PROGRAM` does")
      ->type_name("FILE")
      ->excludes(explain);
  command->prefix_command();
  command->callback([options, command, &action] {
    options->command = program_of(*command);
    action = [options] { return run_program(*options); };
  });
}

}  // namespace ttmem::cli
