// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/viewers.hpp"

#include <algorithm>
#include <utility>

#include "collect/collector.hpp"
#include "serve/http/live_snapshot.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostViewers = 4;  // each reads every segment for itself
constexpr auto kIdle = 60s;
constexpr auto kFresh = 100ms;
constexpr std::uint32_t kSensorsOfViewersMs = 10000;

}  // namespace

struct Viewers::Viewer {
  Viewer(Words whose, const http::RouteSources& shared)
      : words(whose),
        collector({.host = true,
                   .sensors_every_ms = kSensorsOfViewersMs,
                   .words_of_user = whose,
                   .native_names = false}),
        routes({.live = live,
                .collector = collector,
                .history = shared.history,
                .refresh = [this] { refresh_if_old(); },
                .metrics = shared.metrics,
                .first_events = shared.first_events,
                .recent_events = shared.recent_events,
                .recordings = shared.recordings,
                .self = shared.self,
                .leaks = shared.leaks}) {}

  void refresh_if_old() {
    if (refreshed != Clock::time_point{} && Clock::now() - refreshed < kFresh) return;
    collector.refresh();
    live.take(collector.snapshot());
    refreshed = Clock::now();
  }

  Words words;
  collect::Collector collector;
  http::LiveSnapshot live;
  http::Routes routes;
  Clock::time_point refreshed{}, asked{};
};

Viewers::Viewers(http::RouteSources shared) : shared_(std::move(shared)) {}
Viewers::~Viewers() = default;

Viewers::Viewer& Viewers::viewer(Words words) {
  const auto known = std::ranges::find_if(
      viewers_, [&](const std::unique_ptr<Viewer>& each) { return each->words == words; });
  if (known != viewers_.end()) {
    viewers_.splice(viewers_.begin(), viewers_, known);
  } else {
    if (viewers_.size() == kMostViewers) viewers_.pop_back();
    viewers_.push_front(std::make_unique<Viewer>(words, shared_));
  }
  return *viewers_.front();
}

http::Response Viewers::answer(const http::Request& request, Words words) {
  Viewer& whose = viewer(words);
  whose.asked = Clock::now();
  return whose.routes.answer(request);
}

void Viewers::forget_idle() {
  std::erase_if(viewers_, [](const std::unique_ptr<Viewer>& each) {
    return Clock::now() - each->asked > kIdle;
  });
}

}  // namespace ttmem::serve
