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
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
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
  std::string host, device, match, token_file;
  std::vector<std::string> headers;
  double timeout_seconds = 10;
  unsigned stale_seconds = 120;
  std::string ssh = "ssh";
  bool jobs = false, all = false, json = false;

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_seconds * 1000));
  }
};

std::uint64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

int print_fleet(const fleet::Fleet& fleet, const FleetOptions& options) {
  Output output;
  if (options.json) {
    output.write(fleet::fleet_json(fleet));
  } else if (options.jobs) {
    output.write(fleet::jobs_text(fleet, output.style()));
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
    fmt::print(stderr, "\r{} of {} hosts have answered", done, all);
  } else {
    fmt::print(stderr, "\r\x1b[K");
  }
  std::fflush(stderr);
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

int of_hosts(const FleetOptions& options, const std::string& token) {
  auto hosts = fleet::read_hosts(options.hosts);
  if (!hosts) return complain(hosts.error().message, kUsage);
  if (!options.host.empty()) {
    std::erase_if(*hosts, [&](const auto& entry) { return entry.name != options.host; });
    if (hosts->empty()) {
      return complain(fmt::format("{} is not in {}", view::printable(options.host),
                                  view::printable(options.hosts)),
                      kNotFound);
    }
  }
  fleet::HostQuestion question;
  question.timeout = options.timeout();
  question.token = token;
  question.ssh = options.ssh;
  const auto answers = fleet::ask_hosts(
      *hosts, question, [&](std::size_t done) { show_progress(done, hosts->size()); });
  show_progress(hosts->size(), hosts->size());
  if (!options.host.empty()) return print_one(answers, options);
  fleet::Fleet fleet = fleet::fleet_of(answers, now_ns());
  fleet.source = options.hosts;
  const int code = print_fleet(fleet, options);
  return code == kOk && fleet.fresh() == 0 ? static_cast<int>(kFailed) : code;
}

// ---- an engine

// A matcher is a part of a selector: what would end that is none.
std::string match_problem(const std::string& text) {
  if (text.find_first_of("{}\r\n") == std::string::npos && text.find('=') != std::string::npos) {
    return {};
  }
  return "a match is such as 'cluster=\"a\"' or 'instance=~\"rack7-.*\"'";
}

int of_engine(const FleetOptions& options, const std::string& token) {
  const auto url = fleet::parse_url(options.from, 9090);
  if (!url) return complain(url.error().message, kUsage);
  fleet::Headers headers;
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  for (const std::string& text : options.headers) {
    auto header = fleet::parse_header(text);
    if (!header) return complain(header.error().message, kUsage);
    headers.push_back(std::move(*header));
  }
  const fleet::Engine engine(*url, headers, options.timeout());
  const fleet::EngineQuestion question{options.match, options.stale_seconds, now_ns()};
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
  std::string token;
  if (!options.token_file.empty()) {
    auto read = fleet::read_token(options.token_file);
    if (!read) return complain(read.error().message, kFailed);
    token = std::move(*read);
  }
  return options.from.empty() ? of_hosts(options, token) : of_engine(options, token);
}

constexpr const char* kFleetExamples =
    "Asks the hosts of a file, or an engine that scrapes them. A line of the file is NAME (asked "
    "by\n"
    "`ssh NAME ttmem status --json`) or NAME:PORT or http://NAME:PORT (its `ttmem serve`); # "
    "begins\n"
    "a comment. Up to 256 are asked at once; who does not answer in time is listed and in no sum.\n"
    "Examples:\n"
    "  ttmem fleet --hosts hosts.txt                     sums, hosts, jobs, without any engine\n"
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
                       "Ask an engine that speaks the API of Prometheus, at this address")
          ->type_name("URL")
          ->excludes(hosts);
  CLI::Option* host =
      command->add_option("--host", options->host, "Show only this host")->type_name("NAME");
  command->add_option("--device", options->device, "Show only this device of the host")
      ->type_name("ID")
      ->needs(host);
  command->add_flag("--jobs", options->jobs, "Show only the jobs")->excludes(host);
  command->add_flag("--all", options->all, "Show every host, not only the 20 fullest");
  command->add_option("--match", options->match, "Ask only for series that match this")
      ->type_name("MATCHER")
      ->needs(from)
      ->check(match_problem);
  command->add_option("--token-file", options->token_file, "Send the token in this file")
      ->type_name("FILE");
  command->add_option("--header", options->headers, "Send this header, too; may be repeated")
      ->type_name("HEADER")
      ->needs(from);
  command
      ->add_option("--timeout", options->timeout_seconds, "Wait so long for an answer, in seconds")
      ->type_name("N")
      ->capture_default_str()
      ->check(seconds_between(0.1, 600));
  command
      ->add_option("--stale", options->stale_seconds,
                   "Say that a host is stale after so many seconds without a scrape")
      ->type_name("N")
      ->capture_default_str()
      ->needs(from);
  command->add_option("--ssh", options->ssh, "Use this program instead of ssh")
      ->type_name("PROGRAM")
      ->needs(hosts);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] {
    if (options->hosts.empty() && options->from.empty()) {
      throw CLI::ValidationError("name hosts with --hosts FILE, or an engine with --from URL");
    }
    action = [options] { return show_fleet(*options); };
  });
}

}  // namespace ttmem::cli
