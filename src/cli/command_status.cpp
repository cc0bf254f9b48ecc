// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/ask_daemon.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/selection.hpp"
#include "cli/stop_signal.hpp"
#include "collect/collector.hpp"
#include "legacy/status_text.hpp"
#include "view/cores_text.hpp"
#include "view/json.hpp"
#include "view/labels.hpp"
#include "view/programs_text.hpp"
#include "view/status_text.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

struct StatusOptions {
  Selection selection;
  bool json = false, cores = false, programs = false;
  std::string core, format;
  double watch_seconds = 0;
};

struct Report {
  std::string text;
  int exit_code = kOk;
};

Report not_found(const std::string& why) {
  fmt::print(stderr, "ttmem: {}\n", why);
  return {"", kNotFound};
}

Report cores_report(const collect::Collector& collector, const ledger::Snapshot& snapshot,
                    const StatusOptions& options, const view::Style& style) {
  std::vector<view::DeviceCores> devices;
  for (const auto& device : snapshot.devices) {
    devices.push_back({device.id, device.unique_id, collector.cores(device.id, false)});
  }
  if (options.json) {
    return {view::cores_json(snapshot, devices, false, view::JsonLayout::kPretty) + "\n"};
  }
  std::string text;
  for (const auto& device : devices) {
    text += (text.empty() ? "" : "\n") + view::cores_text(device, style);
  }
  return {text};
}

Report core_report(const collect::Collector& collector, const ledger::Snapshot& snapshot,
                   const StatusOptions& options, const view::Style& style) {
  if (snapshot.devices.size() != 1) return not_found("name the core's device with --device");
  const ledger::Core wanted = *view::parse_core(options.core);
  const ledger::DeviceView& chip = snapshot.devices.front();
  const view::DeviceCores device{chip.id, chip.unique_id, collector.cores(chip.id, true, wanted)};
  if (device.cores.empty() && collector.cores(chip.id, false).empty()) {
    return not_found(fmt::format(
        "the cores of device {} are not known: no tracked process has it open", device.id));
  }
  if (device.cores.empty()) {
    return not_found(fmt::format("device {} has no {} core {},{}; see all with --cores", device.id,
                                 name(wanted.type), wanted.x, wanted.y));
  }
  if (options.json) {
    return {view::cores_json(snapshot, {device}, true, view::JsonLayout::kPretty) + "\n"};
  }
  return {view::core_map_text(device.id, device.cores.front(), style)};
}

Report programs_report(const collect::Collector& collector, const ledger::Snapshot& snapshot,
                       const StatusOptions& options, const view::Style& style) {
  std::vector<ledger::ProgramView> programs = collector.programs();
  if (const auto device = options.selection.device) {
    std::erase_if(programs, [&](const auto& program) {
      return std::find(program.devices.begin(), program.devices.end(), *device) ==
             program.devices.end();
    });
  }
  if (options.json) {
    return {view::programs_json(snapshot, programs, view::JsonLayout::kPretty) + "\n"};
  }
  if (programs.empty()) return {"No program is alive.\n"};
  return {view::programs_text(programs, snapshot.time, style)};
}

Report report(const collect::Collector& collector, const StatusOptions& options,
              const view::Style& style) {
  ledger::Snapshot all = collector.snapshot();
  const bool told = complete(collector, options.selection.pid, all);
  if (const std::string why = unusable_directory(collector.directories()); !why.empty() && !told) {
    fmt::print(stderr, "ttmem: {}\n", why);
    return {"", kFailed};
  }
  if (const std::string why = missing(all, options.selection); !why.empty()) return not_found(why);
  const ledger::Snapshot snapshot = selected(all, options.selection);
  if (!options.core.empty()) return core_report(collector, snapshot, options, style);
  if (options.cores) return cores_report(collector, snapshot, options, style);
  if (options.programs) return programs_report(collector, snapshot, options, style);
  if (options.json) return {view::snapshot_json(snapshot, view::JsonLayout::kPretty) + "\n"};
  const bool original = options.format == "legacy" && !view::is_empty(snapshot);
  return {original ? legacy::status_text(snapshot) : view::status_text(snapshot, style)};
}

int watch(collect::Collector& collector, const StatusOptions& options) {
  Output output;
  StopSignal stop;
  const auto pause =
      std::chrono::nanoseconds(static_cast<std::int64_t>(options.watch_seconds * 1'000'000'000.0));
  do {
    collector.refresh();
    const Report now = report(collector, options, output.style());
    if (now.exit_code != kOk) return now.exit_code;
    const std::string head = "ttmem status at " + view::clock_text(collector.snapshot().time);
    if (output.is_terminal()) output.write("\x1b[H\x1b[2J");
    if (!options.json) output.write(head + "\n\n");
    output.write(now.text);
    if (!output.is_terminal() && !options.json) output.write("\n");
    output.flush();
  } while (!output.is_over() && !stop.wait(pause));
  return output.finish();
}

int status(const StatusOptions& options) {
  collect::Options collecting;
  collecting.pid = options.selection.pid;
  collecting.host = true;
  collect::Collector collector(collecting);
  if (options.watch_seconds > 0) return watch(collector, options);
  Output output;
  collector.refresh();
  const Report now = report(collector, options, output.style());
  if (now.exit_code != kOk) return now.exit_code;
  output.write(now.text);
  return output.finish();
}

constexpr const char* kStatusExamples =
    "Examples:\n"
    "  ttmem status                       every device, then every process\n"
    "  ttmem status --device 0 --cores    the L1 of each core of device 0, in bytes\n"
    "  ttmem status --device 0 --core 3,4 the map of one core, bottom to top\n"
    "  ttmem status --programs            live programs and how often they ran\n"
    "  ttmem status --json | jq .devices[0].l1_total\n"
    "  ttmem status --watch 1             again every second";

std::string core_problem(const std::string& text) {
  if (view::parse_core(text)) return {};
  return "a core is two numbers, such as 3,4, or those of a type, such as active_eth:0,1";
}

}  // namespace

int print_status_json(std::optional<std::int32_t> pid) {
  StatusOptions options;
  options.selection.pid = pid;
  options.json = true;
  return status(options);
}

void register_status(CLI::App& app, Action& action) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "What each device holds, and who holds it");
  command->footer(kStatusExamples);
  command->add_flag("--json", options->json, "As a document of docs/json.md");
  command->add_option("--device", options->selection.device, "Only this device")->type_name("ID");
  command->add_option("--pid", options->selection.pid, "Only this process")->type_name("PID");
  auto* cores = command->add_flag("--cores", options->cores, "The L1 of every core, in bytes");
  auto* core = command
                   ->add_option("--core", options->core,
                                "The map of one core; others than Tensix as TYPE:x,y")
                   ->type_name("x,y")
                   ->check(core_problem);
  auto* programs = command->add_flag("--programs", options->programs, "The live programs");
  command
      ->add_option("--watch", options->watch_seconds, "Again every so many seconds, until Ctrl-C")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.05, 86400.0));
  auto* format = command->add_option("--format", options->format, "The original's two layouts")
                     ->type_name("legacy")
                     ->check(CLI::IsMember({"legacy"}));
  cores->excludes(programs)->excludes(format);
  core->excludes(programs)->excludes(format);
  programs->excludes(format);
  command->callback([options, &action] { action = [options] { return status(*options); }; });
}

}  // namespace ttmem::cli
