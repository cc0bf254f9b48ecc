// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/routes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explain/explain.hpp"
#include "ledger/jobs.hpp"
#include "serve/history/query.hpp"
#include "serve/http/gzip.hpp"
#include "serve/http/page.hpp"
#include "serve/http/push_state.hpp"
#include "view/answer_shares.hpp"
#include "view/explain_text.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/leaks_text.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve::http {
namespace {

using view::JsonLayout;
using view::json::Json;

constexpr std::string_view kApi = "/api/v1/";
constexpr std::size_t kMostAnswerBytes = 16u << 20;  // of a list; what is beyond is counted
constexpr const char* kNoHistory = "no history is kept: start the daemon with --history FILE";

Response nothing() { return error(404, "not found: /api lists everything that can be requested"); }

Response text(LiveSnapshot::Text document) {
  Response response;
  response.start = std::move(document.start);
  response.rest.push_back(std::move(document.rest));
  return response;
}

// What each document takes. The history is not here: it knows its own (serve/history/query.hpp).
struct Document {
  std::string_view name;
  std::vector<std::string_view> parameters;
};

const std::vector<Document>& documents() {
  static const std::vector<Document> kAll = {
      {"snapshot", {}},
      {"processes", {"device", "pid", "process"}},
      {"jobs", {"device", "pid", "process"}},
      {"failures", {"device", "pid", "process", "number"}},
      {"explain", {"pid", "number"}},
      {"leaks", {}},
      {"log", {}},
      {"recording", {}},
      {"recordings", {}},
      {"programs", {"device", "pid", "process"}},
      {"origins", {"by", "device", "pid", "process"}},
      {"holdings", {"limit", "cursor", "device", "pid", "process", "kind", "space"}},
      {"events", {"events", "brief", "cores"}},
      {"devices", {}},
      {"devices/cores", {"map", "core"}},
      {"devices/banks", {}},
      {"devices/rings", {}},
      {"programs/launches", {"device", "pid", "process"}},
  };
  return kAll;
}

// Whoever misspells a filter must not take the answer for a filtered one.
std::optional<Response> refuse_unknown(const Request& request, std::string_view name) {
  const auto document = std::ranges::find(documents(), name, &Document::name);
  if (document == documents().end()) return std::nullopt;
  for (const auto& [parameter, value] : request.query) {
    if (std::ranges::find(document->parameters, parameter) != document->parameters.end()) continue;
    const std::string known =
        document->parameters.empty()
            ? "it takes none"
            : fmt::format("it takes {}", fmt::join(document->parameters, ", "));
    return error(400, fmt::format("{} has no parameter '{}': {}", request.path, parameter, known));
  }
  return std::nullopt;
}

// Takes 0 or 1, if it is there; an answer if it is neither.
std::optional<Response> take_flag(const Request& request, std::string_view name, bool& flag) {
  const std::string* value = request.parameter(name);
  if (value == nullptr) return std::nullopt;
  flag = *value == "1" || *value == "true";
  if (flag || *value == "0" || *value == "false") return std::nullopt;
  return error(400, fmt::format("{} must be 0 or 1", name));
}

}  // namespace

bool may_have_words(const std::string& path) {
  if (!path.starts_with(kApi)) return false;
  const std::string name = path.substr(kApi.size());
  return !name.starts_with("history") && name != "runs" && name != "recordings";
}

Response Routes::answer(const Request& request) {
  if (request.path == "/api" || request.path == "/api/") return api_page();
  if (request.path == "/healthz") return health();
  if (request.path == "/metrics") return metrics(request);
  if (request.path.starts_with(kApi)) return api(request, request.path.substr(kApi.size()));
  if (auto page = page_answer(request)) return std::move(*page);
  return nothing();
}

// A scraper chooses with collect[]=device&collect[]=process&collect[]=job, or collect[]=short; one
// that does not gets what the daemon's settings say.
Response Routes::metrics(const Request& request) {
  std::vector<std::string> collected;
  for (const auto& [name, value] : request.query) {
    if (name != "collect[]")
      return error(400, "/metrics takes collect[]=device, process, job or short");
    collected.push_back(value);
  }
  std::optional<view::MetricsOptions> chosen;
  if (!collected.empty()) {
    const auto options = view::metrics_options(collected);
    if (!options) return error(400, options.error().message);
    chosen = *options;
  }
  sources_.refresh();
  Response response;
  response.type = view::kMetricsContentType;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.start = sources_.metrics(chosen);
  if (request.takes_gzip) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.start = gzipped(response.start);
  }
  return response;
}

Response Routes::api(const Request& request, const std::string& name) {
  if (name == "history") return history(request, false);
  if (name == "runs") return history(request, true);
  if (name == "history/programs") return busy_programs(request);
  if (auto refusal = refuse_unknown(request, name)) return std::move(*refusal);
  sources_.refresh();
  if (name == "snapshot") return text(sources_.live.document());
  if (name == "processes") return processes(request);
  if (name == "jobs") return jobs(request);
  if (name == "failures") return failures(request);
  if (name == "explain") return explain(request);
  if (name == "leaks") return leaks();
  if (name == "log") return log();
  if (name == "recording") return recording();
  if (name == "recordings") return json(sources_.recordings());
  if (name == "programs") return programs(request);
  if (name == "origins") return origins(request);
  if (name == "holdings") {
    return holdings_page(request, sources_.collector, sources_.live.generation());
  }
  if (name == "events") return events(request);
  constexpr std::string_view kPrograms = "programs/";
  if (name.starts_with(kPrograms)) return launches(request, name.substr(kPrograms.size()));
  constexpr std::string_view kDevices = "devices/";
  if (name.starts_with(kDevices)) return device(request, name.substr(kDevices.size()));
  return nothing();
}

// Takes what the parameters select; an answer if one is wrong, or names what is not there.
std::optional<Response> Routes::select(const Request& request, view::Selection& selection) const {
  for (const auto& [name, value] : request.query) {
    const std::string wanted = selection.add(name, value);
    if (!wanted.empty()) return error(400, fmt::format("{} must be {}", name, wanted));
  }
  const auto device = selection.find(sources_.collector.snapshot());
  if (!device) return error(404, device.error().message);
  return std::nullopt;
}

view::AnswerShares Routes::fair_shares() const {
  view::AnswerShares shares(kMostAnswerBytes);
  for (const auto& part : sources_.live.processes()) shares.add(part.view);
  return shares;
}

Response Routes::processes(const Request& request) {
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  if (request.query.empty()) return text(sources_.live.processes_document());
  Json document = view::json::head("processes", sources_.live.frame());
  document["processes"] = Json::array();
  view::AnswerShares shares = fair_shares();
  const ledger::Snapshot selected = selection.of(sources_.collector.snapshot());
  for (const ledger::ProcessView& process : selected.processes) {
    view::json::add_row(document["processes"], view::json::process(process), process.key, &shares);
  }
  document["left_out"] = shares.left_out();
  return json(view::json::text(document, JsonLayout::kCompact));
}

Response Routes::jobs(const Request& request) {
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  const ledger::Snapshot selected = selection.of(sources_.collector.snapshot());
  return json(
      view::jobs_json(sources_.live.frame(), ledger::jobs_of(selected), JsonLayout::kCompact));
}

Response Routes::device(const Request& request, const std::string& rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  view::Selection selection;
  const std::string wanted = selection.add("device", rest.substr(0, slash));
  if (!wanted.empty()) return error(404, "a device is named by " + wanted);
  const auto found = selection.find(sources_.collector.snapshot());
  if (!found) return error(404, found.error().message);
  const std::string part = rest.substr(slash);
  if (auto refusal = refuse_unknown(request, "devices" + part)) return std::move(*refusal);
  if (part == "/cores") return cores(request, **found);
  if (part == "/banks") return banks(**found);
  if (part == "/rings") return rings(**found);
  return part.empty() ? json(sources_.live.device_document((*found)->id)) : nothing();
}

Response Routes::cores(const Request& request, const ledger::DeviceView& device) {
  bool with_map = false;
  if (auto refusal = take_flag(request, "map", with_map)) return std::move(*refusal);
  std::optional<ledger::Core> only;
  if (const std::string* name = request.parameter("core")) {
    only = view::parse_core(*name);
    if (!only) return error(400, "core must be such as 3,4 or active_eth:0,3");
  }
  const view::DeviceCores cores{device.id, device.unique_id,
                                sources_.collector.cores(device.id, with_map, only)};
  return json(view::cores_json(sources_.live.frame(), {cores}, with_map, JsonLayout::kCompact));
}

Response Routes::banks(const ledger::DeviceView& device) {
  const view::DeviceBanks banks{device.id, device.unique_id, sources_.collector.banks(device.id)};
  return json(view::banks_json(sources_.live.frame(), banks, JsonLayout::kCompact));
}

Response Routes::rings(const ledger::DeviceView& device) {
  const view::DeviceRings rings{device.id, device.unique_id, sources_.collector.rings(device.id)};
  return json(view::rings_json(sources_.live.frame(), rings, JsonLayout::kCompact));
}

// Without their pictures, unless one failure of one process is asked for.
Response Routes::failures(const Request& request) {
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  const std::string* number = request.parameter("number");
  if (number != nullptr && number->find_first_not_of("0123456789") != std::string::npos) {
    return error(400, "number must be that of a failure: /api/v1/failures lists them");
  }
  std::vector<view::ProcessFailure> found;
  for (const auto& part : sources_.live.processes()) {
    const ledger::ProcessView& process = part.view;
    const ledger::ProcessName& name = process;
    for (const ledger::FailureView& failure : process.failures) {
      if (!selection.has(name, failure)) continue;
      if (number != nullptr && std::to_string(failure.number) != *number) continue;
      found.push_back({name, failure, {}});
      if (!selection.process() || number == nullptr) continue;
      auto picture = sources_.collector.failure_picture(process.key, failure.number);
      if (picture) found.back().picture = std::move(*picture);
    }
  }
  view::AnswerShares shares = fair_shares();
  return json(view::failures_json(sources_.live.frame(), found, JsonLayout::kCompact, &shares));
}

// The newest failure that is selected; lines of source are not read for strangers.
Response Routes::explain(const Request& request) {
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  const std::string* number = request.parameter("number");
  const ledger::ProcessView* owner = nullptr;
  const ledger::FailureView* newest = nullptr;
  for (const auto& part : sources_.live.processes()) {
    if (selection.process() && !selection.has(part.view)) continue;
    for (const ledger::FailureView& failure : part.view.failures) {
      if (number != nullptr && std::to_string(failure.number) != *number) continue;
      if (newest != nullptr && failure.time < newest->time) continue;
      owner = &part.view;
      newest = &failure;
    }
  }
  if (newest == nullptr) return error(404, "no such failure is kept");
  const auto picture = sources_.collector.failed_space(owner->key, newest->number);
  view::ExplainedFailure found = view::failure_of(*owner, *newest);
  found.findings = explain::explain_failure(*newest, picture ? &*picture : nullptr);
  return json(view::explain_json(sources_.live.frame(), found, JsonLayout::kCompact));
}

// What the daemon has seen grow since it runs.
Response Routes::leaks() {
  if (!sources_.leaks) return error(404, "nobody follows a recording: `ttmem leaks --from` does");
  return json(view::leaks_json(sources_.live.frame(), sources_.leaks(), JsonLayout::kCompact));
}

Response Routes::log() {
  Json document = view::json::head("log", sources_.live.frame());
  std::string text = view::json::text(document, JsonLayout::kCompact);
  text.pop_back();
  text += ",\"events\":[";
  for (const ledger::EventView& event : sources_.recent_events()) {
    text += text.back() == '[' ? "\n" : ",\n";
    text += view::event_json(event);
  }
  return json(text + "\n]}");
}

// Of the present there is none; who shows one answers by itself (serve/replay_server.cpp).
Response Routes::recording() {
  Json document = view::json::head("recording", sources_.live.frame());
  document["file"] = nullptr;
  return json(view::json::text(document, JsonLayout::kCompact));
}

Response Routes::programs(const Request& request) {
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  std::vector<ledger::ProgramView> programs = sources_.collector.programs();
  std::erase_if(programs, [&](const auto& each) { return !selection.has(each); });
  view::AnswerShares shares = fair_shares();
  return json(view::programs_json(sources_.live.frame(), programs, JsonLayout::kCompact, &shares));
}

// "0x2a/launches", or "all/launches".
Response Routes::launches(const Request& request, const std::string& rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (rest.substr(slash) != "/launches") return nothing();
  if (auto refusal = refuse_unknown(request, "programs/launches")) return std::move(*refusal);
  const std::string id = rest.substr(0, slash);
  const std::optional<std::uint64_t> wanted = id == "all" ? 0 : view::parse_id(id);
  if (!wanted)
    return error(400, "a program is named by its id, such as 0x2a, or all of them by all");
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  std::vector<ledger::ProgramView> programs = sources_.collector.programs(true);
  std::erase_if(programs, [&](const auto& each) {
    return !selection.has(each) || (id != "all" && each.id != *wanted);
  });
  if (programs.empty() && id != "all") {
    return error(404, fmt::format("no living process has a program {}", id));
  }
  view::AnswerShares shares = fair_shares();
  return json(view::launches_json(sources_.live.frame(), programs, JsonLayout::kCompact, &shares));
}

Response Routes::origins(const Request& request) {
  view::Selection selection;
  if (auto refusal = select(request, selection)) return std::move(*refusal);
  view::Origins origins;
  if (const std::string* by = request.parameter("by")) {
    const auto known = ledger::named<ledger::OriginBy>(*by);
    if (!known) {
      return error(400, fmt::format("by must be one of {}",
                                    fmt::join(ledger::kNamesOf<ledger::OriginBy>, ", ")));
    }
    origins.question.by = *known;
  }
  const auto device = selection.find(sources_.collector.snapshot());
  if (device && *device) origins.question.device = (*device)->id;
  origins.question.of = [&](const auto& process) { return selection.has(process); };
  origins.totals = sources_.collector.origins(origins.question);
  view::AnswerShares shares = fair_shares();
  return json(view::origins_json(sources_.live.frame(), origins, JsonLayout::kCompact, &shares));
}

Response Routes::history(const Request& request, bool runs) {
  if (sources_.history == nullptr) {
    return error(404, kNoHistory);
  }
  sources_.refresh();
  const ledger::TimeNs now = sources_.live.frame().time;
  if (runs) {
    const auto query = history::parse_run_query(request.query, now);
    if (!query) return error(400, query.error().message);
    const auto found = sources_.history->runs(*query, now);
    if (!found) {
      const bool ours = found.error().code == ErrorCode::kSystem;
      return error(ours ? 503 : 400, found.error().message);
    }
    return json(history::runs_json(*found));
  }
  if (request.query.empty()) return json(history::metrics_json());
  const auto query = history::parse_query(request.query, now);
  if (!query) return error(400, query.error().message);
  const auto found = sources_.history->query(*query, now);
  if (!found) return error(400, found.error().message);
  return json(history::answer_json(*found));
}

Response Routes::busy_programs(const Request& request) {
  if (sources_.history == nullptr) return error(404, kNoHistory);
  sources_.refresh();
  const auto query = history::parse_busy_query(request.query, sources_.live.frame().time);
  if (!query) return error(400, query.error().message);
  const auto found = sources_.history->busy_programs(*query);
  if (!found) {
    const bool ours = found.error().code == ErrorCode::kSystem;
    return error(ours ? 503 : 400, found.error().message);
  }
  return json(history::busy_json(*found));
}

Response Routes::events(const Request& request) {
  StreamOptions options{.gzip = request.takes_gzip, .audience = sources_.audience};
  const std::pair<const char*, bool*> flags[] = {
      {"events", &options.events}, {"brief", &options.brief}, {"cores", &options.cores}};
  for (const auto& [name, flag] : flags) {
    if (auto refusal = take_flag(request, name, *flag)) return std::move(*refusal);
  }
  Response response;
  response.type = "text/event-stream";
  response.stream = options;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (request.takes_gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  if (request.is_head()) return response;
  FirstEvents first = sources_.first_events(*response.stream, request.last_event_id);
  response.start = std::move(first.start);
  response.rest = std::move(first.rest);
  response.reader = std::move(first.reader);
  return response;
}

Response Routes::health() {
  const ledger::Snapshot& frame = sources_.live.frame();
  Json document = view::json::head("health", frame);
  document["status"] = "ok";
  document["version"] = TTMEM_VERSION;
  document["devices"] = sources_.live.devices().size();
  document["processes"] = sources_.live.processes().size();
  document["unreadable"] = frame.unreadable.size();
  constexpr std::size_t kMostNamed = 16;
  const std::size_t named = std::min(frame.unreadable.size(), kMostNamed);
  document["left_out"] = Json::array();
  for (std::size_t i = 0; i < named; ++i) document["left_out"].push_back(frame.unreadable[i]);
  document["history"] = nullptr;
  if (sources_.history != nullptr) {
    const history::Status status = sources_.history->status();
    document["history"] = {{"path", view::json::text_or_null(status.path)},
                           {"problem", view::json::text_or_null(status.problem)},
                           {"file_bytes", status.file_bytes},
                           {"lost_rows", status.lost_rows},
                           {"clock_jumps", status.clock_jumps}};
  }
  document["push"] = push_state(frame.directories);
  document["fleet"] = nullptr;
  if (!sources_.engine.empty()) document["fleet"] = {{"from", sources_.engine}};
  const view::SelfFigures self = sources_.self();
  document["self"] = {{"cpu_seconds", self.cpu_seconds},
                      {"resident_bytes", self.resident_bytes},
                      {"refresh_seconds", self.refresh_seconds},
                      {"refreshes", self.refreshes},
                      {"changes", self.snapshots},
                      {"connections", self.connections},
                      {"requests", self.requests},
                      {"dropped", self.dropped},
                      {"loop_pause_seconds", self.loop_pause_seconds},
                      {"loop_cpu_seconds", self.loop_cpu_seconds},
                      {"work_cpu_seconds", self.work_cpu_seconds}};
  return json(view::json::text(document, JsonLayout::kCompact));
}

}  // namespace ttmem::serve::http
