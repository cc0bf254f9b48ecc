// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/say.hpp"
#include "cli/stop_signal.hpp"
#include "fleet/push.hpp"
#include "serve/daemon_process.hpp"
#include "serve/http/gzip.hpp"
#include "view/printable.hpp"

namespace ttmem::cli {
namespace {

struct PushOptions {
  std::string otlp, prometheus, daemon = "127.0.0.1:7171", token_file, state;
  bool json = false, once = false;
  std::vector<std::string> headers, collect;
  double every_seconds = 0, timeout_seconds = 0;
};

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// Of two variables of OpenTelemetry, the one for metrics comes first.
std::string otel(const std::string& name) {
  const std::string own = variable("OTEL_EXPORTER_OTLP_METRICS_" + name);
  return own.empty() ? variable("OTEL_EXPORTER_OTLP_" + name) : own;
}

std::optional<double> milliseconds_of(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > 86'400'000) return std::nullopt;
  return value;
}

std::chrono::milliseconds duration(double seconds, const std::string& of_otel, double usual) {
  if (seconds <= 0) seconds = milliseconds_of(of_otel).value_or(usual * 1000) / 1000;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Where OTLP goes: an address without a path is that of a collector.
std::string otlp_address(const PushOptions& options) {
  if (!options.otlp.empty()) return options.otlp;
  std::string whole = variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
  if (!whole.empty()) return whole;
  std::string base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
  while (base.ends_with('/')) base.pop_back();
  return base.empty() ? "" : base + "/v1/metrics";
}

Result<fleet::PushFormat> otlp_format(const PushOptions& options) {
  const std::string protocol = otel("PROTOCOL");
  if (options.json || protocol == "http/json") return fleet::PushFormat::kOtlpJson;
  if (protocol.empty() || protocol == "http/protobuf") return fleet::PushFormat::kOtlpProtobuf;
  return Error{ErrorCode::kWrongKind,
               fmt::format("OTEL_EXPORTER_OTLP_PROTOCOL={} is not spoken: http/protobuf and "
                           "http/json are (a collector takes them at port 4318)",
                           view::printable(protocol))};
}

std::optional<Error> set_compression(fleet::PushTarget& target) {
  const std::string asked = otel("COMPRESSION");
  if (asked.empty() || asked == "none") return std::nullopt;
  if (asked != "gzip") {
    return Error{ErrorCode::kWrongKind,
                 fmt::format("OTEL_EXPORTER_OTLP_COMPRESSION={} is not spoken: gzip and none are",
                             view::printable(asked))};
  }
  target.gzip = serve::http::gzipped;
  return std::nullopt;
}

fleet::Attributes resource() {
  fleet::Attributes attributes = fleet::parse_attributes(variable("OTEL_RESOURCE_ATTRIBUTES"));
  const auto add = [&](const std::string& name, const std::string& value) {
    const bool there =
        std::ranges::any_of(attributes, [&](const auto& each) { return each.first == name; });
    if (!there) attributes.emplace_back(name, value);
  };
  if (const std::string service = variable("OTEL_SERVICE_NAME"); !service.empty()) {
    std::erase_if(attributes, [](const auto& each) { return each.first == "service.name"; });
    add("service.name", service);
  }
  add("service.name", "ttmem");
  add("service.instance.id", host_name());
  add("host.name", host_name());
  return attributes;
}

std::optional<Error> add_headers(const PushOptions& options, fleet::PushTarget& target) {
  if (target.format != fleet::PushFormat::kPrometheus) {
    for (const auto& [name, value] : fleet::parse_attributes(otel("HEADERS"))) {
      auto header = fleet::parse_header(name + ": " + value);
      if (!header) return header.error();
      target.headers.push_back(std::move(*header));
    }
  }
  for (const std::string& text : options.headers) {
    auto header = fleet::parse_header_option(text);
    if (!header) return header.error();
    target.headers.push_back(std::move(*header));
  }
  if (options.token_file.empty()) return std::nullopt;
  const auto token = fleet::read_token(options.token_file);
  if (!token) return token.error();
  target.headers.push_back(fleet::authorization(*token));
  return std::nullopt;
}

Result<fleet::PushTarget> target_of(const PushOptions& options) {
  fleet::PushTarget target;
  const bool import = !options.prometheus.empty();
  const std::string address = import ? options.prometheus : otlp_address(options);
  if (address.empty()) {
    return Error{ErrorCode::kWrongKind,
                 "name a receiver: --otlp URL, --prometheus URL, or OTEL_EXPORTER_OTLP_ENDPOINT"};
  }
  const auto to = fleet::parse_url(address, import ? 8428 : 4318);
  if (!to) return to.error();
  const auto daemon = fleet::parse_url(options.daemon, 7171);
  if (!daemon) return daemon.error();
  target.to = *to;
  target.daemon = *daemon;
  target.collect = options.collect;
  target.timeout = duration(options.timeout_seconds, import ? "" : otel("TIMEOUT"), 10);
  if (import) {
    target.format = fleet::PushFormat::kPrometheus;
    target.to.path = fleet::import_path(target.to.path, host_name());
  } else {
    const auto format = otlp_format(options);
    if (!format) return format.error();
    target.format = *format;
    if (const auto problem = set_compression(target)) return *problem;
    target.resource = resource();
    if (target.to.path.empty()) target.to.path = "/v1/metrics";
  }
  if (const auto problem = add_headers(options, target)) return *problem;
  return target;
}

// A whole file or none: /healthz of the daemon reads it at any moment.
void write_state(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  const std::string begun = path + ".begun";
  {
    const FileDescriptor file(
        ::open(begun.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file || ::write(file.get(), text.data(), text.size()) < 0) return;
  }
  ::rename(begun.c_str(), path.c_str());
}

// A line when it begins to work and when it stops to, not at every document.
void tell(const fleet::PushTarget& target, const fleet::PushState& before,
          const fleet::PushState& state) {
  const bool first = before.sent + before.failed == 0;
  if (state.problem == before.problem && state.refused == before.refused && !first) return;
  if (state.problem.empty() && !state.refused.empty()) {
    say("ttmem push: a part was not taken: {}\n", state.refused);
    serve::tell_service_manager("STATUS=a part was not taken: " + state.refused);
  } else if (state.problem.empty()) {
    say("ttmem push: metrics go to {}\n", target.to.authority());
    serve::tell_service_manager("STATUS=metrics go to " + target.to.authority());
  } else {
    say("ttmem push: nothing was sent: {}\n", state.problem);
    serve::tell_service_manager("STATUS=nothing was sent: " + state.problem);
  }
}

std::uint64_t wall_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

int push(const PushOptions& options) {
  const auto target = target_of(options);
  if (!target) return complain(target.error().message, kUsage);
  const bool import = target->format == fleet::PushFormat::kPrometheus;
  const auto every =
      duration(options.every_seconds, import ? "" : variable("OTEL_METRIC_EXPORT_INTERVAL"), 60);
  StopSignal stop;
  serve::tell_service_manager("READY=1");
  fleet::PushState state;
  do {
    const fleet::PushState before = state;
    fleet::push_once(*target, wall_ns(), state);
    tell(*target, before, state);
    write_state(options.state, fleet::state_json(*target, state));
    if (options.once) return (state.problem + state.refused).empty() ? kOk : kFailed;
  } while (!stop.wait(state.pause(every)));
  return kOk;
}

constexpr const char* kPushExamples =
    "Fetches what the daemon (`ttmem serve`) tells at /metrics and sends it to a receiver, again "
    "and\n"
    "again: for hosts that nobody can scrape. Nothing is queued: a document that cannot be sent "
    "is\n"
    "forgotten, and after each failure the pause is twice as long, five minutes at most.\n"
    "The variables of OpenTelemetry count: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _PROTOCOL, "
    "_TIMEOUT,\n"
    "_COMPRESSION (also _METRICS_...), OTEL_METRIC_EXPORT_INTERVAL, OTEL_RESOURCE_ATTRIBUTES, "
    "OTEL_SERVICE_NAME.\n"
    "Examples:\n"
    "  ttmem push --otlp http://collector:4318            OTLP over HTTP, protobuf\n"
    "  ttmem push --prometheus http://victoria:8428       the Prometheus import of "
    "VictoriaMetrics\n"
    "  ttmem push --otlp http://collector:4318 --once     one document, and an exit code\n"
    "  systemctl enable --now ttmem-push                  as a service, see docs/how-to/fleet.md";

}  // namespace

void register_push(CLI::App& app, Action& action) {
  auto options = std::make_shared<PushOptions>();
  CLI::App* command =
      app.add_subcommand("push", "Send the metrics of the daemon to a receiver that cannot scrape");
  command->footer(kPushExamples);
  CLI::Option* otlp =
      command->add_option("--otlp", options->otlp, "Send OTLP over HTTP to this address")
          ->type_name("URL");
  CLI::Option* import =
      command
          ->add_option("--prometheus", options->prometheus,
                       "Send the text of /metrics to the Prometheus import of VictoriaMetrics")
          ->type_name("URL")
          ->excludes(otlp);
  command->add_flag("--json", options->json, "Send OTLP as JSON instead of protobuf")
      ->excludes(import);
  command->add_option("--daemon", options->daemon, "Fetch the metrics from this daemon")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command
      ->add_option("--collect", options->collect,
                   "Send device, process, job or short; may be repeated")
      ->type_name("SET")
      ->check(CLI::IsMember({"device", "process", "job", "short"}));
  command->add_option("--every", options->every_seconds, "Send every N seconds (default 60)")
      ->type_name("N")
      ->check(seconds_between(0.1, 86400));
  command
      ->add_option("--timeout", options->timeout_seconds,
                   "Wait at most N seconds for an answer (default 10)")
      ->type_name("N")
      ->check(seconds_between(0.1, 600));
  command->add_option("--token-file", options->token_file, "Send the token in this file")
      ->type_name("FILE");
  command->add_option("--header", options->headers, "Send this header, too; may be repeated")
      ->type_name("HEADER");
  command
      ->add_option("--state", options->state,
                   "Write how it goes to this file; /healthz shows push.json of its directory")
      ->type_name("FILE");
  command->add_flag("--once", options->once,
                    "Send one document, and say by the exit code how it went");
  command->callback([options, &action] { action = [options] { return push(*options); }; });
}

}  // namespace ttmem::cli
