// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/engine_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "fleet/ask_engine.hpp"
#include "fleet/ask_hosts.hpp"
#include "fleet/fleet_text.hpp"
#include "view/printable.hpp"
#include "view/text.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kHostsShown = 20;

struct FleetOptions {
  std::string hosts, from;  // one of them
  std::string host, device;
  EngineOptions engine;
  std::string ssh = "ssh";
  bool jobs = false, all = false, json = false;
};

int print_fleet(const fleet::Fleet& fleet, const FleetOptions& options) {
  Output output;
  if (options.json) {
    output.write(fleet::fleet_json(fleet));
  } else if (options.jobs) {
    output.write(fleet::notes_text(fleet, output.style()) +
                 fleet::jobs_text(fleet, output.style()));
  } else {
    const std::size_t most = options.all ? std::numeric_limits<std::size_t>::max() : kHostsShown;
    output.write(fleet::fleet_text(fleet, most, output.style()));
  }
  return output.finish();
}

// ---- hosts of a file

// One line on a terminal, which is rubbed out in the end.
void show_progress(std::size_t done, std::size_t all) {
  if (::isatty(STDERR_FILENO) == 0) return;
  if (done < all) {
    say("\r{} of {} hosts have answered", done, all);
  } else {
    say("\r\x1b[K");
  }
}

// One host as `ttmem status` there shows it.
int print_one(const std::vector<fleet::HostAnswer>& answers, const FleetOptions& options) {
  const fleet::HostAnswer& answer = answers.front();
  if (!answer.snapshot) {
    return complain(fmt::format("{}: {}", view::printable(answer.name),
                                view::printable(answer.snapshot.error().message)),
                    kFailed);
  }
  view::Selection selection;
  if (!options.device.empty()) {
    if (const std::string wanted = selection.add("device", options.device); !wanted.empty()) {
      return complain("--device is " + wanted, kUsage);
    }
  }
  if (const std::string why = find_selected(selection, *answer.snapshot); !why.empty()) {
    return complain(why, kNotFound);
  }
  const ledger::Snapshot snapshot = selection.of(*answer.snapshot);
  Output output;
  output.write(options.json ? view::snapshot_json(snapshot, view::JsonLayout::kPretty) + "\n"
                            : view::status_text(snapshot, output.style()));
  return output.finish();
}

int of_hosts(const FleetOptions& options) {
  const auto token = token_of(options.engine);
  if (!token) return complain(token.error().message, kFailed);
  auto hosts = fleet::read_hosts(options.hosts);
  if (!hosts) return complain(hosts.error());
  if (!options.host.empty()) {
    std::erase_if(*hosts, [&](const auto& entry) { return entry.name != options.host; });
    if (hosts->empty()) {
      return complain(fmt::format("{} is not in {}", view::printable(options.host),
                                  view::printable(options.hosts)),
                      kNotFound);
    }
  }
  fleet::HostQuestion question;
  question.timeout = options.engine.timeout();
  question.token = *token;
  question.ssh = options.ssh;
  const auto answers = fleet::ask_hosts(
      *hosts, question, [&](std::size_t done) { show_progress(done, hosts->size()); });
  show_progress(hosts->size(), hosts->size());
  if (!options.host.empty()) return print_one(answers, options);
  fleet::Fleet fleet = fleet::fleet_of(answers, wall_clock_ns());
  fleet.source = options.hosts;
  const int code = print_fleet(fleet, options);
  return code == kOk && fleet.fresh() == 0 ? static_cast<int>(kFailed) : code;
}

// ---- an engine

int of_engine(const FleetOptions& options) {
  const auto opened = open_engine(options.from, options.engine);
  if (!opened) {
    return complain(opened.error().message,
                    opened.error().code == ErrorCode::kWrongKind ? kUsage : kFailed);
  }
  const fleet::Engine& engine = *opened;
  const fleet::EngineQuestion question = options.engine.question();
  const auto code_of = [](const Error& error) {
    return error.code == ErrorCode::kNotFound ? kNotFound : kFailed;
  };
  Output output;
  if (!options.device.empty()) {
    const auto figures = fleet::ask_device(engine, question, options.host, options.device);
    if (!figures) return complain(figures.error().message, code_of(figures.error()));
    output.write(options.json
                     ? fleet::device_json(options.host, options.device, *figures, question.now_ns)
                     : fleet::device_text(options.host, options.device, *figures, output.style()));
    return output.finish();
  }
  if (!options.host.empty()) {
    const auto devices = fleet::ask_host(engine, question, options.host);
    if (!devices) return complain(devices.error().message, code_of(devices.error()));
    output.write(options.json ? fleet::host_json(options.host, *devices, question.now_ns)
                              : fleet::host_text(options.host, *devices, output.style()));
    return output.finish();
  }
  const auto fleet = fleet::ask_fleet(engine, question);
  if (!fleet) return complain(fleet.error().message, kFailed);
  return print_fleet(*fleet, options);
}

int show_fleet(const FleetOptions& options) {
  return options.from.empty() ? of_hosts(options) : of_engine(options);
}

constexpr const char* kFleetExamples =
    "Asks the hosts of a file, or a Prometheus that scrapes them. A line of the file is NAME "
    "(asked "
    "by\n"
    "`ssh NAME ttmem status --json`) or NAME:PORT or http://NAME:PORT (its `ttmem serve`); # "
    "begins\n"
    "a comment. Up to 256 are asked at once; one that is too slow is listed, but in no sum.\n"
    "Examples:\n"
    "  ttmem fleet --hosts hosts.txt                     sums, hosts, jobs, without Prometheus\n"
    "  ttmem fleet --hosts hosts.txt --host node7        one of them, as ttmem status there\n"
    "  ttmem fleet --from http://prometheus:9090         the same from Prometheus or "
    "VictoriaMetrics\n"
    "  ttmem fleet --from http://prometheus:9090 --jobs  every job over its hosts\n"
    "  ttmem fleet --from http://vm:8428 --host node7:7171 --device 3\n"
    "  ttmem fleet --from http://thanos:9090 --token-file token --match 'cluster=\"a\"' --json";

}  // namespace

void register_fleet(CLI::App& app, Action& action) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* command = app.add_subcommand("fleet", "Show many hosts and the jobs on them as one");
  command->footer(kFleetExamples);
  CLI::Option* hosts =
      command
          ->add_option("--hosts", options->hosts, "Ask the hosts of this file; - is standard input")
          ->type_name("FILE");
  CLI::Option* from =
      command
          ->add_option("--from", options->from,
                       "Ask the Prometheus, VictoriaMetrics or Thanos at this address")
          ->type_name("URL")
          ->excludes(hosts);
  CLI::Option* host =
      command->add_option("--host", options->host, "Show only this host")->type_name("NAME");
  command->add_option("--device", options->device, "Show only this device of the host")
      ->type_name("ID")
      ->needs(host);
  command->add_flag("--jobs", options->jobs, "Show only the jobs")->excludes(host);
  command->add_flag("--all", options->all, "Show every host, not only the 20 fullest");
  add_engine_options(*command, *from, options->engine);
  command->add_option("--ssh", options->ssh, "Use this program instead of ssh")
      ->type_name("PROGRAM")
      ->needs(hosts);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] {
    if (options->hosts.empty() && options->from.empty()) {
      throw CLI::ValidationError("name hosts with --hosts FILE, or a Prometheus with --from URL");
    }
    action = [options] { return show_fleet(*options); };
  });
}

}  // namespace ttmem::cli
