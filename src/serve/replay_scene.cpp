// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/replay_scene.hpp"

#include <utility>

#include "collect/replay_outline.hpp"
#include "serve/daemon_process.hpp"
#include "serve/refresher.hpp"
#include "serve/rolling_recording.hpp"

namespace ttmem::serve {
namespace {

constexpr std::size_t kMostLogged = 1000;  // events, as in the live daemon

}  // namespace

ReplayScene::ReplayScene(collect::Collector collector, const ReplayStudy& study)
    : collector_(std::move(collector)), study_(study) {
  go_to(collector_.replay()->last());
}

http::Response ReplayScene::answer(http::Request request) {
  if (request.path == "/metrics") {
    return http::error(404, "a recording has no metrics: ask a daemon that looks at the present");
  }
  if (!request.path.starts_with("/api/v1/")) return http::Routes(sources()).answer(request);
  std::string when;
  std::erase_if(request.query, [&](const auto& parameter) {
    if (parameter.first != "at") return false;
    when = parameter.second;
    return true;
  });
  const auto time = collect::moment_named(when, *collector_.replay(), study_.outline());
  if (!time) {
    const bool outside = time.error().code == ErrorCode::kNotFound;
    return http::error(outside ? 404 : 400, time.error().message);
  }
  go_to(*time);
  if (request.path == "/api/v1/recording") {
    return http::json(recording_json(collector_, study_.outline()));
  }
  return http::Routes(sources()).answer(request);
}

void ReplayScene::go_to(ledger::TimeNs time) {
  if (collector_.snapshot().time == time) return;
  if (time < collector_.snapshot().time) recent_.clear();
  collector_.replay()->seek(time);
  collector_.refresh();
  live_.take(collector_.snapshot());
  take_events();
}

// Where the segment was opened again, all that its ring holds comes again.
void ReplayScene::take_events() {
  const auto events = collector_.take_events();
  if (events.empty()) return;
  std::erase_if(recent_, [&](const auto& each) { return each.time >= events.front().time; });
  recent_.insert(recent_.end(), events.begin(), events.end());
  while (recent_.size() > kMostLogged) recent_.pop_front();
}

http::RouteSources ReplayScene::sources() {
  return {.live = live_,
          .collector = collector_,
          .history = study_.history(),
          .refresh = [] {},
          .metrics = [](const auto&) { return std::string(); },
          .first_events =
              [this](const http::StreamOptions& reader, const std::string&) {
                // Nothing follows: whoever wants another moment asks for that.
                return Broadcast("at").first(reader, live_, collector_, "");
              },
          .recent_events = [this] { return recent_; },
          .recordings = [this] { return no_recordings_json(live_.frame()); },
          .self = [] { return own_cost(); }};
}

}  // namespace ttmem::serve
