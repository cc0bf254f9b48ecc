// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/push.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ledger/saturating.hpp"
#include "view/json_values.hpp"
#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestPause{300'000};
constexpr std::size_t kMostSaid = 200;

Result<std::string> fetch(const PushTarget& target) {
  Request request;
  request.url = target.daemon;
  request.url.path += "/metrics";
  char sign = '?';
  for (const std::string& set : target.collect) {
    request.url.path += fmt::format("{}collect[]={}", sign, percent_encoded(set));
    sign = '&';
  }
  request.timeout = target.timeout;
  const auto answer = ask(request);
  if (!answer) return Error{answer.error().code, "the daemon: " + answer.error().message};
  if (answer->status != 200) {
    return Error{ErrorCode::kSystem, "the daemon: " + status_text(answer->status)};
  }
  return answer->body;
}

std::string with_own(std::string text, const PushState& state) {
  const auto add = [&](const char* name, const char* help, std::uint64_t value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} counter\n{0} {2}\n", name, help, value);
  };
  add("ttmem_push_sent_total", "Documents that were pushed, before this one.", state.sent);
  add("ttmem_push_failed_total", "Documents that could not be pushed, and were forgotten.",
      state.failed);
  add("ttmem_push_refused_points_total", "Points of pushed documents that were not taken.",
      state.refused_points);
  return text;
}

// What the daemon told, in the form of the receiver.
Result<Request> request_of(const PushTarget& target, std::string text, std::uint64_t now_ns,
                           const PushState& state) {
  Request request;
  request.method = "POST";
  request.url = target.to;
  request.headers = target.headers;
  request.timeout = target.timeout;
  request.most_bytes = 1u << 20;
  if (target.format == PushFormat::kPrometheus) {
    request.headers.emplace_back("Content-Type", "text/plain");
    request.body = std::move(text);
    return request;
  }
  auto families = read_exposition(text);
  if (!families) return families.error();
  const OtlpDocument document{target.resource, std::move(*families), state.started_ns, now_ns};
  const bool json = target.format == PushFormat::kOtlpJson;
  request.headers.emplace_back("Content-Type",
                               json ? "application/json" : "application/x-protobuf");
  request.body = json ? otlp_json(document) : otlp_protobuf(document);
  if (target.gzip != nullptr) {
    request.headers.emplace_back("Content-Encoding", "gzip");
    request.body = target.gzip(request.body);
  }
  return request;
}

std::string problem_of(const PushTarget& target, const Result<Answer>& answer) {
  if (!answer) return answer.error().message;
  if (answer->status / 100 == 2) return {};
  const std::size_t end = answer->body.find_last_not_of(" \r\n") + 1;  // 0: it said nothing
  const std::string said = view::printable(answer->body.substr(0, std::min(end, kMostSaid)));
  return fmt::format("{}: {}{}", target.to.authority(), status_text(answer->status),
                     said.empty() ? "" : ": " + said);
}

// What is not taken of a document that is.
void note_refusal(const PushTarget& target, const Answer& answer, PushState& state) {
  if (target.format == PushFormat::kPrometheus) return;
  const OtlpRefusal refusal = otlp_refusal(answer.body, target.format == PushFormat::kOtlpJson);
  state.refused_points = ledger::add(state.refused_points, refusal.points);
  if (refusal.text.empty()) return;
  state.refused = fmt::format("{}: {}", target.to.authority(),
                              view::printable(refusal.text.substr(0, kMostSaid)));
}

void push(const PushTarget& target, std::uint64_t now_ns, PushState& state) {
  state.problem.clear();
  state.refused.clear();
  auto text = fetch(target);
  if (!text) {
    state.problem = text.error().message;
    return;
  }
  const auto request = request_of(target, with_own(std::move(*text), state), now_ns, state);
  if (!request) {
    state.problem = request.error().message;
    return;
  }
  const auto answer = ask(*request);
  state.problem = problem_of(target, answer);
  if (state.problem.empty()) note_refusal(target, *answer, state);
}

}  // namespace

milliseconds PushState::pause(milliseconds every) const {
  milliseconds pause = every;
  for (unsigned i = 1; i < in_a_row && pause < kLongestPause; ++i) pause *= 2;
  return std::max(every, std::min(pause, kLongestPause));
}

void push_once(const PushTarget& target, std::uint64_t now_ns, PushState& state) {
  if (state.started_ns == 0) state.started_ns = now_ns;
  push(target, now_ns, state);
  if (state.problem.empty()) {
    ++state.sent;
    state.in_a_row = 0;
    state.last_sent_ns = now_ns;
  } else {
    ++state.failed;
    ++state.in_a_row;
  }
}

std::string import_path(const std::string& path, const std::string& host) {
  std::string whole = path.empty() ? "/api/v1/import/prometheus" : path;
  if (whole.find("extra_label=instance=") != std::string::npos) return whole;
  return fmt::format("{}{}extra_label=instance={}&extra_label=job=ttmem", whole,
                     whole.find('?') == std::string::npos ? "?" : "&", percent_encoded(host));
}

std::string state_json(const PushTarget& target, const PushState& state) {
  using view::json::text_or_null;
  using view::json::time_or_null;
  const view::json::Json document = {
      {"to", target.to.authority()},
      {"sent", state.sent},
      {"failed", state.failed},
      {"refused_points", state.refused_points},
      {"last_sent_ns", time_or_null(state.last_sent_ns)},
      {"problem", text_or_null(state.problem.empty() ? state.refused : state.problem)}};
  return view::json::text(document, view::JsonLayout::kCompact) + "\n";
}

}  // namespace ttmem::fleet
