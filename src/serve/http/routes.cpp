// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/routes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "serve/history/history_json.hpp"
#include "serve/http/api_page.hpp"
#include "serve/http/holdings_page.hpp"
#include "serve/http/page.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/metrics.hpp"
#include "view/units.hpp"

namespace ttmem::serve::http {
namespace {

using view::JsonLayout;
using view::json::Json;

constexpr std::string_view kApi = "/api/v1/";

Response text(LiveSnapshot::Text document) {
  Response response;
  response.start = std::move(document.start);
  response.rest = std::move(document.rest);
  return response;
}

// By its number in the document, or by its unique id.
const ledger::DeviceView* find_device(const LiveSnapshot& live, const std::string& name) {
  const auto found = std::ranges::find_if(live.devices(), [&](const LiveSnapshot::Device& part) {
    return name == std::to_string(part.view.id) ||
           name == view::unique_id_text(part.view.unique_id);
  });
  return found == live.devices().end() ? nullptr : &found->view;
}

Response no_device(const LiveSnapshot& live) {
  std::vector<std::uint32_t> ids;
  for (const auto& part : live.devices()) ids.push_back(part.view.id);
  if (ids.empty()) return error(404, "there is no such device: no process has told about any");
  return error(404, fmt::format("there is no such device; there are: {}", fmt::join(ids, ", ")));
}

bool is_on(const std::vector<std::uint32_t>& devices, std::uint32_t id) {
  return std::ranges::find(devices, id) != devices.end();
}

bool is_set(const Request& request, std::string_view name) {
  const std::string* value = request.parameter(name);
  return value != nullptr && (*value == "1" || *value == "true");
}

}  // namespace

Response Routes::answer(const Request& request) {
  if (request.path == "/api" || request.path == "/api/") return api_page();
  if (request.path == "/healthz") return health();
  if (request.path == "/metrics") {
    if (!view::metrics_available()) {
      return error(404, "this build has no metrics: use one with prometheus-cpp");
    }
    sources_.refresh();
    Response response;
    response.type = view::kMetricsContentType;
    response.start = sources_.metrics();
    return response;
  }
  if (request.path.starts_with(kApi)) return api(request, request.path.substr(kApi.size()));
  if (auto page = page_answer(request)) return std::move(*page);
  return error(404, "there is nothing of that name: /api lists what there is");
}

Response Routes::api(const Request& request, const std::string& name) {
  if (name == "history") return history(request, false);
  if (name == "runs") return history(request, true);
  sources_.refresh();
  if (name == "snapshot") return text(sources_.live.document());
  if (name == "processes") return text(sources_.live.processes_document());
  if (name == "programs") return programs(request);
  if (name == "holdings") {
    return holdings_page(request, sources_.collector, sources_.live.generation());
  }
  if (name == "events") return events(request);
  constexpr std::string_view kDevices = "devices/";
  if (name.starts_with(kDevices)) return device(request, name.substr(kDevices.size()));
  return error(404, "there is nothing of that name: /api lists what there is");
}

Response Routes::device(const Request& request, std::string rest) {
  constexpr std::string_view kCores = "/cores";
  const bool wants_cores = rest.ends_with(kCores);
  if (wants_cores) rest.resize(rest.size() - kCores.size());
  const ledger::DeviceView* found = find_device(sources_.live, rest);
  if (found == nullptr) return no_device(sources_.live);
  return wants_cores ? cores(request, *found) : json(sources_.live.device_document(found->id));
}

Response Routes::cores(const Request& request, const ledger::DeviceView& device) {
  const bool with_map = is_set(request, "map");
  const view::DeviceCores cores{device.id, device.unique_id,
                                sources_.collector.cores(device.id, with_map)};
  return json(view::cores_json(sources_.live.frame(), {cores}, with_map, JsonLayout::kCompact));
}

Response Routes::programs(const Request& request) {
  std::vector<ledger::ProgramView> programs = sources_.collector.programs();
  if (const std::string* pid = request.parameter("pid")) {
    std::erase_if(programs, [&](const auto& each) { return std::to_string(each.pid) != *pid; });
  }
  if (const std::string* name = request.parameter("device")) {
    const ledger::DeviceView* device = find_device(sources_.live, *name);
    if (device == nullptr) return no_device(sources_.live);
    std::erase_if(programs, [&](const auto& each) { return !is_on(each.devices, device->id); });
  }
  return json(view::programs_json(sources_.live.frame(), programs, JsonLayout::kCompact));
}

Response Routes::history(const Request& request, bool runs) {
  if (sources_.history == nullptr) {
    return error(404, "no history is kept: start the daemon with --history FILE");
  }
  sources_.refresh();
  const ledger::TimeNs now = sources_.live.frame().time;
  if (runs) {
    const auto query = history::parse_run_query(request.query, now);
    if (!query) return error(400, query.error().message);
    const auto found = sources_.history->runs(*query, now);
    if (!found) return error(503, found.error().message);
    return json(history::runs_json(*found));
  }
  if (request.parameter("metric") == nullptr) return json(history::metrics_json());
  const auto query = history::parse_query(request.query, now);
  if (!query) return error(400, query.error().message);
  const auto found = sources_.history->query(*query, now);
  if (!found) return error(400, found.error().message);
  return json(history::answer_json(*found));
}

Response Routes::events(const Request& request) {
  Response response;
  response.type = "text/event-stream";
  response.stream = true;
  if (!request.is_head()) response.start = sources_.first_events(request.last_event_id);
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
  document["history"] = nullptr;
  if (sources_.history != nullptr) {
    const history::Status status = sources_.history->status();
    document["history"] = {{"path", view::json::text_or_null(status.path)},
                           {"problem", view::json::text_or_null(status.problem)},
                           {"file_bytes", status.file_bytes},
                           {"lost_rows", status.lost_rows}};
  }
  return json(view::json::text(document, JsonLayout::kCompact));
}

}  // namespace ttmem::serve::http
