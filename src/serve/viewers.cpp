// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/viewers.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "collect/collector.hpp"
#include "loop/loop.hpp"
#include "serve/http/live_snapshot.hpp"
#include "serve/wordless.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kStreamPath = "/api/v1/events";
constexpr std::size_t kMostStreaming = 4;  // each reads every segment for itself
constexpr std::size_t kMostViewers = kMostStreaming + 4;
constexpr auto kIdle = 60s;
constexpr auto kFresh = 100ms;
constexpr std::uint32_t kSensorsOfViewersMs = 10000;

}  // namespace

struct Viewers::Viewer {
  Viewer(Words whose, std::uint32_t number, const http::RouteSources& shared, StreamTexts& news)
      : words(whose),
        texts(news),
        collector({.events = true,
                   .host = true,
                   .sensors_every_ms = kSensorsOfViewersMs,
                   .words_of_user = whose,
                   .native_names = false,
                   .launches = true,
                   .witness = &shared.collector}),
        broadcast(fmt::format("{}v{}", daemon_instance(), number), number),
        routes(sources(number, shared)) {}

  http::RouteSources sources(std::uint32_t number, const http::RouteSources& shared) {
    return {.live = live,
            .collector = collector,
            .history = shared.history,
            .refresh = [this] { refresh_if_old(); },
            .metrics = shared.metrics,
            .first_events =
                [this](const http::StreamOptions& reader, const std::string& last) {
                  refresh_if_old();
                  return broadcast.first(reader, live, collector, last);
                },
            .recent_events =
                [this, &shared] {
                  auto events = shared.recent_events();
                  return words ? without_words(std::move(events)) : events;
                },
            .recordings = shared.recordings,
            .self = shared.self,
            .leaks =
                [this, &shared] {
                  auto report = shared.leaks();
                  return words ? without_words(std::move(report)) : report;
                },
            .engine = shared.engine,
            .audience = number};
  }

  bool is_streaming() const { return broadcast.readers().any(); }
  void refresh() {
    collector.refresh();
    const auto events = collector.take_events();
    const bool changed = live.take(collector.snapshot());
    broadcast.tell(live, collector, events, changed, texts);
    refreshed = Clock::now();
  }
  void refresh_if_old() {
    if (refreshed == Clock::time_point{} || Clock::now() - refreshed >= kFresh) refresh();
  }

  Words words;
  StreamTexts& texts;  // for the readers of streams
  collect::Collector collector;
  http::LiveSnapshot live;
  Broadcast broadcast;
  http::Routes routes;
  std::string failure;  // of the last reading
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
    if (viewers_.size() == kMostViewers) forget_one();
    viewers_.push_front(std::make_unique<Viewer>(words, ++last_number_, shared_, news_.texts));
  }
  return *viewers_.front();
}

// There is one: fewer than all have streams.
void Viewers::forget_one() {
  const auto last = std::find_if(viewers_.rbegin(), viewers_.rend(),
                                 [](const auto& each) { return !each->is_streaming(); });
  TTMEM_CHECK(last != viewers_.rend());
  viewers_.erase(std::next(last).base());
}

http::Response Viewers::answer(const http::Request& request, Words words) {
  Viewer& whose = viewer(words);
  whose.asked = Clock::now();
  const auto streaming = static_cast<std::size_t>(
      std::ranges::count_if(viewers_, [](const auto& each) { return each->is_streaming(); }));
  if (request.path == kStreamPath && !whose.is_streaming() && streaming >= kMostStreaming) {
    return http::error(503, "too many users have the page open: try again later");
  }
  return whose.routes.answer(request);
}

std::chrono::nanoseconds Viewers::look() {
  const std::chrono::nanoseconds start = loop::thread_time();
  for (const auto& each : viewers_) {
    if (!each->is_streaming()) continue;
    try {
      each->refresh();
      each->failure.clear();
    } catch (const std::exception& problem) {
      if (std::exchange(each->failure, problem.what()) == problem.what()) continue;
      news_.notice += "a look for one user failed, and the next begins anew: " + each->failure;
    }
  }
  return loop::thread_time() - start;
}

void Viewers::add_news(News& news) {
  std::ranges::move(news_.texts, std::back_inserter(news.texts));
  news.notice += news_.notice;
  news_ = {};
}

void Viewers::forget_idle() {
  std::erase_if(viewers_, [](const std::unique_ptr<Viewer>& each) {
    return !each->is_streaming() && Clock::now() - each->asked > kIdle;
  });
}

}  // namespace ttmem::serve
