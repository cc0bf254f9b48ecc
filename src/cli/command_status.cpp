// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/ask_daemon.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/past.hpp"
#include "cli/read_progress.hpp"
#include "cli/reading_options.hpp"
#include "cli/stop_signal.hpp"
#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "ledger/jobs.hpp"
#include "serve/replay_document.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

// Between the two looks that a rate is made of.
constexpr std::chrono::milliseconds kBetweenLooks{300};

constexpr const char* kByJob = "job";

struct StatusOptions {
  view::Selection selection;
  Past past;
  FormatChoice format;
  bool cores = false, programs = false, summary = false;
  std::string core, by, job;
  double watch_seconds = 0;
};

int print_cores(const collect::Collector& collector, const ledger::Snapshot& snapshot,
                const FormatChoice& format, Output& output) {
  std::vector<view::DeviceCores> devices;
  for (const auto& device : snapshot.devices) {
    devices.push_back({device.id, device.unique_id, collector.cores(device.id, false)});
  }
  format.print(cores_formats(), output, snapshot, devices);
  return kOk;
}

int print_core(const collect::Collector& collector, const ledger::Snapshot& snapshot,
               const StatusOptions& options, Output& output) {
  if (snapshot.devices.size() != 1) {
    return complain("name the core's device with --device", kNotFound);
  }
  const ledger::Core wanted = *view::parse_core(options.core);
  const ledger::DeviceView& chip = snapshot.devices.front();
  const view::DeviceCores device{chip.id, chip.unique_id, collector.cores(chip.id, true, wanted)};
  if (device.cores.empty() && collector.cores(chip.id, false).empty()) {
    return complain(fmt::format("the cores of device {} are not known: no tracked process has it "
                                "open",
                                device.id),
                    kNotFound);
  }
  if (device.cores.empty()) {
    return complain(fmt::format("device {} has no {} core {},{}; see all with --cores", device.id,
                                name(wanted.type), wanted.x, wanted.y),
                    kNotFound);
  }
  options.format.print(core_map_formats(), output, snapshot, device);
  return kOk;
}

int print_programs(const collect::Collector& collector, const ledger::Snapshot& snapshot,
                   const StatusOptions& options, Output& output) {
  std::vector<ledger::ProgramView> programs = collector.programs();
  std::erase_if(programs, [&](const auto& each) { return !options.selection.has(each); });
  std::ranges::stable_sort(programs, std::greater{}, [](const ledger::ProgramView& each) {
    return std::pair(each.recent_per_second.value_or(0), each.last_dispatch);
  });
  options.format.print(programs_formats(), output, snapshot, programs);
  return kOk;
}

int print_origins(const collect::Collector& collector, const ledger::Snapshot& snapshot,
                  StatusOptions& options, Output& output) {
  view::Origins origins;
  origins.question.by = *ledger::named<ledger::OriginBy>(options.by);
  const auto device = options.selection.find(snapshot);
  if (device && *device) origins.question.device = (*device)->id;
  origins.question.of = [&](const auto& process) { return options.selection.has(process); };
  origins.totals = collector.origins(origins.question);
  options.format.print(origins_formats(), output, snapshot, origins);
  return kOk;
}

std::string mark_text(const collect::Mark& mark, const collect::Outline& outline) {
  const double seconds = static_cast<double>(mark.time - outline.first) / 1e9;
  const std::string when = fmt::format("{} (+{:.6f})", view::clock_text(mark.time), seconds);
  if (mark.kind == collect::Mark::Kind::kFailure) {
    return fmt::format("  {}  failure {} of process {}\n", when, mark.number, mark.pid);
  }
  return fmt::format("  {}  peak of {}: {}\n", when,
                     mark.space ? name(*mark.space) : "all spaces together",
                     view::bytes_text(mark.bytes));
}

Result<collect::Outline> outline_with_progress(const collect::Replay& replay) {
  constexpr std::size_t kParts = 600;
  ReadProgress progress;
  return collect::outline_of(replay, kParts, [&](double part) {
    progress.show(part);
    return true;
  });
}

// What is in a recording, and where.
int print_summary(const collect::Collector& collector, const StatusOptions& options) {
  const collect::Replay& replay = *collector.replay();
  const auto outline = outline_with_progress(replay);
  if (!outline) return complain(outline.error().message, kNotFound);
  if (options.format.is("json")) return Output::print(serve::recording_json(collector, &*outline));
  std::string text = fmt::format("{}: {:.3f} s of {}, from {} to {}\n", options.past.file,
                                 static_cast<double>(replay.last() - replay.first()) / 1e9,
                                 view::count_text(replay.tracks().size(), "process"),
                                 view::clock_text(replay.first()), view::clock_text(replay.last()));
  if (!replay.file().is_ended()) text += "  its recorder was killed, or still records\n";
  for (const std::string& problem : replay.problems()) text += "  " + problem + "\n";
  for (const collect::Mark& mark : outline->marks) text += mark_text(mark, *outline);
  return Output::print(text);
}

// Which moment of a recording it is, and how old what no event carries is there.
std::string moment_text(const collect::Collector& collector) {
  const collect::Replay& replay = *collector.replay();
  std::string text = fmt::format("Recording of {}, {}", view::printable(collector.snapshot().host),
                                 view::clock_text(replay.at()));
  if (replay.sampled_at() < replay.at()) {
    text += fmt::format("; launches, rings, peaks and geometry as of {:.3f} s before",
                        static_cast<double>(replay.at() - replay.sampled_at()) / 1e9);
  }
  return text + "\n\n";
}

int print_jobs(ledger::Snapshot snapshot, const StatusOptions& options, Output& output) {
  if (!options.job.empty()) {
    std::erase_if(snapshot.processes,
                  [&](const auto& each) { return !ledger::is_meant(each.job, options.job); });
  }
  const std::vector<ledger::JobView> jobs = ledger::jobs_of(snapshot);
  if (!options.job.empty() && jobs.empty()) {
    return complain(fmt::format("no recorded process is of job {}; see all with --by job",
                                view::printable(options.job)),
                    kNotFound);
  }
  options.format.print(jobs_formats(), output, snapshot, jobs);
  return kOk;
}

// What was asked for, into the output; an ExitCode.
int report(const collect::Collector& collector, StatusOptions& options, Output& output) {
  ledger::Snapshot all = collector.snapshot();
  const bool told = options.past || complete(collector, options.selection.process(), all);
  if (const std::string why = unusable_directory(collector.directories()); !why.empty() && !told) {
    return complain(why, kFailed);
  }
  if (const std::string why = find_selected(options.selection, all); !why.empty()) {
    return complain(why, kNotFound);
  }
  const ledger::Snapshot snapshot = options.selection.of(all);
  if (!options.core.empty()) return print_core(collector, snapshot, options, output);
  if (options.cores) return print_cores(collector, snapshot, options.format, output);
  if (options.by == kByJob) return print_jobs(snapshot, options, output);
  if (!options.by.empty()) return print_origins(collector, snapshot, options, output);
  if (options.programs) return print_programs(collector, snapshot, options, output);
  options.format.print(status_formats(), output, snapshot);
  return kOk;
}

int watch(collect::Collector& collector, StatusOptions& options) {
  Output output;
  StopSignal stop;
  const bool for_people = !options.format.is("json");
  const auto pause =
      std::chrono::nanoseconds(static_cast<std::int64_t>(options.watch_seconds * 1'000'000'000.0));
  do {
    collector.refresh();
    const std::string now = view::clock_text(collector.snapshot().time);
    if (output.is_terminal()) output.write("\x1b[H\x1b[2J");
    if (for_people) output.write("ttmem status at " + now + "\n\n");
    if (const int code = report(collector, options, output); code != kOk) return code;
    if (!output.is_terminal() && for_people) output.write("\n");
    output.flush();
  } while (!output.is_over() && !stop.wait(pause));
  return output.finish();
}

// Whether a second look could tell how fast programs run: some was launched just now.
bool is_running(const collect::Collector& collector) {
  const ledger::TimeNs now = collector.snapshot().time;
  return std::ranges::any_of(collector.programs(), [now](const ledger::ProgramView& program) {
    return program.last_dispatch + ledger::kRecentNs > now || program.replays.value_or(0) > 0;
  });
}

int status(StatusOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collecting.host = true;
  collecting.launches = options.programs;
  auto collector = open_collector(collecting, options.past);
  if (!collector) return complain(collector.error().message, kNotFound);
  if (options.summary) return print_summary(*collector, options);
  if (options.watch_seconds > 0) return watch(*collector, options);
  Output output;
  output.tell_past(options_text(options.past));
  if (options.programs && !options.past && is_running(*collector)) {
    std::this_thread::sleep_for(kBetweenLooks);
    collector->refresh();
  }
  if (options.past && options.format.is("text")) output.write(moment_text(*collector));
  const int code = report(*collector, options, output);
  return code == kOk ? output.finish() : code;
}

constexpr const char* kStatusExamples =
    "Examples:\n"
    "  ttmem status                       every device, then every process\n"
    "  ttmem status --device 0 --cores    the L1 of each core of device 0, in bytes\n"
    "  ttmem status --device 0 --core 3,4 the memory map of one core, from bottom to top\n"
    "  ttmem status --programs            live programs and how often they ran\n"
    "  ttmem status --by line             which line of Python holds how much\n"
    "  ttmem status --by job              the ranks of each job of Slurm, MPI or Kubernetes\n"
    "  ttmem status --json | jq .devices[0].l1_total\n"
    "  ttmem status --watch 1             repeat every second\n"
    "  ttmem status --from night.ttm --at failure   as it was, from a recording\n"
    "  ttmem status --from night.ttm --summary      what is in it, and when";

std::string core_problem(const std::string& text) {
  if (view::parse_core(text)) return {};
  return "a core is two numbers, such as 3,4, or those of a type, such as active_eth:0,1";
}

}  // namespace

int print_status(const view::Selection& selection, const Past& past, const FormatChoice& format) {
  StatusOptions options;
  options.selection = selection;
  options.past = past;
  options.format = format;
  return status(options);
}

void register_status(CLI::App& app, Action& action) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "Show what each device holds, and who holds it");
  command->footer(kStatusExamples);
  add_selection(*command, "device", "Show only this device, by id or unique id",
                options->selection);
  add_selection(*command, "pid", "Show only this process; PID/START if several have the id",
                options->selection);
  add_past(*command, options->past);
  command
      ->add_flag("--summary", options->summary,
                 "Show what a recording has in it: how long, the peaks, the failures")
      ->needs("--from");
  auto* cores = command->add_flag("--cores", options->cores, "Show the L1 of every core, in bytes");
  auto* core =
      command
          ->add_option("--core", options->core,
                       "Show the memory map of one core; TYPE:x,y if it is not a Tensix core")
          ->type_name("x,y")
          ->check(core_problem);
  auto* programs = command->add_flag("--programs", options->programs, "Show the live programs");
  command->add_option("--watch", options->watch_seconds, "Repeat every N seconds, until Ctrl-C")
      ->type_name("N")
      ->check(seconds_between(0.05, 86400))
      ->excludes("--from");
  options->format.offer(*command, status_formats(),
                        "Print text, json, or legacy: as the original tt_smi_umd did");
  auto* by = command
                 ->add_option("--by", options->by,
                              "Show what is held, by line, file, operation, region, stack or job")
                 ->type_name("WHAT")
                 ->check(CLI::IsMember({"line", "file", "operation", "region", "stack", kByJob}));
  command
      ->add_option("--job", options->job, "Show only this job, with --by job: its key, or rack/31")
      ->type_name("KEY")
      ->needs(by);
  cores->excludes(programs);
  core->excludes(programs);
  by->excludes(cores)->excludes(core)->excludes(programs);
  command->callback([options, &action] {
    if (!options->core.empty()) options->format.require("--core", core_map_formats());
    if (options->cores) options->format.require("--cores", cores_formats());
    if (options->programs) options->format.require("--programs", programs_formats());
    if (!options->job.empty() && options->by != kByJob) {
      throw CLI::ValidationError("--job goes with --by job");
    }
    if (options->by == kByJob) {
      options->format.require("--by", jobs_formats());
    } else if (!options->by.empty()) {
      options->format.require("--by", origins_formats());
    }
    action = [options] { return status(*options); };
  });
}

}  // namespace ttmem::cli
