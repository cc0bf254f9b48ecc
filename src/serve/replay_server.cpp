// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/replay_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "collect/replay_outline.hpp"
#include "loop/loop.hpp"
#include "serve/daemon_log.hpp"
#include "serve/daemon_process.hpp"
#include "serve/http/guard.hpp"
#include "serve/http/gzip.hpp"
#include "serve/http/page.hpp"
#include "serve/http/routes.hpp"
#include "serve/http/sessions.hpp"
#include "serve/http_server.hpp"
#include "serve/refresher.hpp"
#include "serve/replay_document.hpp"
#include "serve/rolling_recording.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr auto kHeartbeatPause = 15s;
constexpr std::size_t kMostLogged = 1000;  // events, as in the live daemon

// The recording at the moment that was asked for last, and the documents of it.
class Scene {
 public:
  Scene(collect::Collector collector, const ReplayStudy& study)
      : collector_(std::move(collector)), study_(study) {
    go_to(collector_.replay()->last());
  }

  http::Response answer(http::Request request) {
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
    const auto time = collect::moment_named(when, *collector_.replay(), "at", study_.outline());
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

 private:
  void go_to(ledger::TimeNs time) {
    if (collector_.snapshot().time == time) return;
    if (time < collector_.snapshot().time) recent_.clear();
    collector_.replay()->seek(time);
    collector_.refresh();
    live_.take(collector_.snapshot());
    take_events();
  }

  // Where the segment was opened again, all that its ring holds comes again.
  void take_events() {
    const auto events = collector_.take_events();
    if (events.empty()) return;
    std::erase_if(recent_, [&](const auto& each) { return each.time >= events.front().time; });
    recent_.insert(recent_.end(), events.begin(), events.end());
    while (recent_.size() > kMostLogged) recent_.pop_front();
  }

  http::RouteSources sources() {
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

  collect::Collector collector_;
  const ReplayStudy& study_;
  http::LiveSnapshot live_;
  std::deque<ledger::EventView> recent_;
};

class ReplayServer {
 public:
  ReplayServer(std::string file, ServeOptions options, Listening listening)
      : file_(std::move(file)),
        options_(std::move(options)),
        listening_(std::move(listening)),
        log_(options_.log_format),
        guard_({.names = {options_.http_host},
                .allow_remote = options_.allow_remote,
                .token = options_.token}) {}

  DaemonEnd run() {
    // Of a recording that somebody else may be in, words are told as by the live daemon.
    if (!options_.all_users) words_ = ::geteuid();
    auto collector = open(words_);
    if (!collector) {
      log_.error(collector.error().message);
      return DaemonEnd::kImpossible;
    }
    study_.emplace(file_);
    everybodys_.emplace(std::move(*collector), *study_);
    for (const int signal : {SIGINT, SIGTERM}) {
      loop_.on_signal(signal, [this] { loop_.stop(); });
    }
    http_.emplace(loop_,
                  HttpServerOptions{.host = options_.http_host,
                                    .port = options_.http_port,
                                    .elsewhere = [](const auto& piece) { piece()(); }},
                  [this](const http::Request& request, const HttpServer::Asker& /*one user*/,
                         const HttpServer::Answer& tell) { tell(answer_safely(request)); });
    if (const auto problem = http_->open()) {
      log_.error(problem->message + "; give another --http HOST:PORT");
      return problem->taken ? DaemonEnd::kAlreadyRunning : DaemonEnd::kImpossible;
    }
    const std::string words = ": still here\n\n";
    const http::StreamText beat{std::make_shared<const std::string>(words),
                                std::make_shared<const std::string>(http::gzip_piece(words))};
    loop_.every(kHeartbeatPause, [this, beat] { http_->publish(http::Channel::kEverybody, beat); });
    const std::string url = "http://" + http_->address();
    log_.info(fmt::format("{}: listening on {}", file_, url));
    listening_(url + sessions_.make_link(::geteuid(), http::Sessions::Clock::now()));
    loop_.run();
    log_.info("stopped");
    return DaemonEnd::kStopped;
  }

 private:
  Result<collect::Collector> open(std::optional<std::uint32_t> words) const {
    return collect::Collector::open_recording(
        file_, {.events = true, .words_of_user = words, .launches = true});
  }

  // No question may end the server.
  http::Response answer_safely(const http::Request& request) {
    try {
      return answer(request);
    } catch (const std::exception& problem) {
      return http::error(
          500, std::string("this should not happen, please report it: ") + problem.what());
    }
  }

  http::Response answer(const http::Request& request) {
    const auto now = http::Sessions::Clock::now();
    auto refused = guard_.refusal(request);
    if (refused && refused->status == http::kNoToken) {
      if (auto page = http::page_answer(request)) refused = std::move(page);
    }
    if (refused) return std::move(*refused);
    if (request.path == http::kEnter) return sessions_.enter(request, now);
    const bool proved = guard_.has_token(request) || sessions_.user_of(request, now);
    if (!proved || !words_) return everybodys_->answer(request);
    if (!proven_) {
      auto collector = open(std::nullopt);
      if (!collector) return http::error(500, collector.error().message);
      proven_.emplace(std::move(*collector), *study_);
    }
    return proven_->answer(request);
  }

  std::string file_;
  ServeOptions options_;
  Listening listening_;
  DaemonLog log_;
  loop::Loop loop_;
  http::Guard guard_;
  http::Sessions sessions_;
  std::optional<std::uint32_t> words_;  // as in collect::Options
  std::optional<ReplayStudy> study_;
  std::optional<Scene> everybodys_;
  std::optional<Scene> proven_;  // for the user who started it: with everybody's words
  std::optional<HttpServer> http_;
};

}  // namespace

DaemonEnd run_replay_server(const std::string& file, const ServeOptions& options,
                            const Listening& listening) {
  ::signal(SIGPIPE, SIG_IGN);
  return ReplayServer(file, options, listening).run();
}

}  // namespace ttmem::serve
