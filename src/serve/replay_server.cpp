// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/replay_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "loop/loop.hpp"
#include "serve/daemon_log.hpp"
#include "serve/daemon_process.hpp"
#include "serve/http/guard.hpp"
#include "serve/http/gzip.hpp"
#include "serve/http/page.hpp"
#include "serve/http/sessions.hpp"
#include "serve/http_server.hpp"
#include "serve/replay_document.hpp"
#include "serve/replay_scene.hpp"
#include "serve/viewers.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr auto kHeartbeatPause = 15s;

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
    auto collector = open(own_words());
    if (!collector) {
      log_.error(collector.error().message);
      return DaemonEnd::kNoRecording;
    }
    study_.emplace(file_);
    scenes_.try_emplace(own_words(), std::move(*collector), *study_);
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
  using Words = Viewers::Words;

  Result<collect::Collector> open(Words words) const {
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
    const Words words = words_for(request, now);
    auto scene = scenes_.find(words);
    if (scene == scenes_.end()) {
      auto collector = open(words);
      if (!collector) return http::error(500, collector.error().message);
      scene = scenes_.try_emplace(words, std::move(*collector), *study_).first;
    }
    return scene->second.answer(request);
  }

  // Who started it is told everything, once that is proved; else the rules of the live daemon hold.
  Words words_for(const http::Request& request, http::Sessions::Clock::time_point now) const {
    if (guard_.has_token(request) || sessions_.user_of(request, now)) return std::nullopt;
    return options_.all_users || request.user == ::geteuid() ? own_words() : Viewers::kNobody;
  }
  Words own_words() const { return options_.all_users ? Words() : ::geteuid(); }

  std::string file_;
  ServeOptions options_;
  Listening listening_;
  DaemonLog log_;
  loop::Loop loop_;
  http::Guard guard_;
  http::Sessions sessions_;
  std::optional<ReplayStudy> study_;
  std::map<Words, ReplayScene> scenes_;
  std::optional<HttpServer> http_;
};

}  // namespace

DaemonEnd run_replay_server(const std::string& file, const ServeOptions& options,
                            const Listening& listening) {
  ::signal(SIGPIPE, SIG_IGN);
  return ReplayServer(file, options, listening).run();
}

}  // namespace ttmem::serve
