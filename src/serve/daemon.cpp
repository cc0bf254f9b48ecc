// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/daemon.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "collect/clock.hpp"
#include "legacy/log.hpp"
#include "legacy/server.hpp"
#include "loop/loop.hpp"
#include "loop/worker.hpp"
#include "serve/asides.hpp"
#include "serve/daemon_log.hpp"
#include "serve/daemon_process.hpp"
#include "serve/http/guard.hpp"
#include "serve/http/gzip.hpp"
#include "serve/http/page.hpp"
#include "serve/http/routes.hpp"
#include "serve/http/sessions.hpp"
#include "serve/http_server.hpp"
#include "serve/local_server.hpp"
#include "serve/peer_owners.hpp"
#include "serve/refresher.hpp"
#include "serve/rolling_recording.hpp"
#include "serve/viewers.hpp"
#include "view/metrics.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCrowd = 4;  // questions that wait: then it matters whose they are
constexpr auto kHeartbeat = 15s;   // so that proxies and readers know that a quiet stream lives

// Through whose eyes somebody sees: empty, those of the daemon itself.
using Whose = std::optional<Viewers::Words>;

// What a piece of work takes along of the loop.
struct FromLoop {
  view::SelfFigures self;  // what the loop knows of them
  bool metrics_per_process = false;
};

// What the loop has (sockets, the log, clients of the original) and what the worker has (everything
// that is read, kept and worked out) are apart: a piece of work takes along what it needs of the
// loop, and brings back what is to be told there.
class Daemon {
 public:
  Daemon(Config config, ServeOptions options, Reload reload, Listening listening)
      : config_(std::move(config)),
        options_(std::move(options)),
        reload_(std::move(reload)),
        listening_(std::move(listening)),
        log_(options_.log_format),
        lines_(log_, loop_),
        original_(STDOUT_FILENO, STDERR_FILENO, false),
        guard_(guard_options()) {}

  DaemonEnd run();

 private:
  http::GuardOptions guard_options() const;
  legacy::Log& legacy_log();
  std::optional<DaemonEnd> open_http(int inherited);
  void open_history();
  void open_recording();
  void open_legacy(int inherited);
  void handle_signals();
  void reload();
  void summarise();
  void stop();
  void open_local();
  void start_work();
  void tell(News&& news);
  void ask(const http::Request& request, const HttpServer::Asker& asker, HttpServer::Answer answer);
  void ask_locally(const http::Request& request, std::uint32_t uid, LocalServer::Answer answer);
  Whose whose_words(const http::Request& request, std::optional<std::uint32_t> proved) const;
  Whose whose_words(std::uint32_t uid) const;
  void work_out(const http::Request& request, const Whose& whose, const HttpServer::Asker& asker,
                HttpServer::Answer answer);
  http::Response link_for(std::uint32_t uid);
  FromLoop from_loop() const;
  // By the worker.
  http::RouteSources sources();
  http::Response answer_safely(const http::Request& request, const Whose& whose);
  view::SelfFigures self() const;

  std::uint64_t started_ns_ = collect::Moment::now().wall_ns;
  Config config_;
  ServeOptions options_;
  Reload reload_;
  Listening listening_;
  DaemonLog log_;
  LegacyLines lines_;
  legacy::StreamLog original_;
  RunLock lock_;
  loop::Loop loop_;
  http::Guard guard_;
  http::Sessions sessions_;
  std::optional<HttpServer> http_;
  std::optional<LocalServer> local_;
  std::optional<Asides> asides_;
  std::optional<legacy::Server> legacy_;
  // Of the worker, once that has begun.
  std::unique_ptr<history::History> history_;
  std::unique_ptr<RollingRecording> recording_;  // null: none is kept
  std::optional<Refresher> refresher_;
  std::optional<http::Routes> routes_;
  std::unique_ptr<Viewers> viewers_;  // none: everybody is told everything
  FromLoop from_loop_;
  // The last members: they end first, and the worker before what its pieces use.
  std::optional<Looks> looks_;
  std::optional<loop::Worker> worker_;
};

http::GuardOptions Daemon::guard_options() const {
  std::array<char, 256> name{};
  http::GuardOptions guard{.names = {options_.http_host},
                           .allow_remote = options_.allow_remote,
                           .token = options_.token};
  if (::gethostname(name.data(), name.size() - 1) == 0) guard.names.emplace_back(name.data());
  return guard;
}

legacy::Log& Daemon::legacy_log() {
  if (options_.log_format == LogFormat::kLegacy) return original_;
  return lines_;
}

// ---- start and end -----------------------------------------------------------------------------

DaemonEnd Daemon::run() {
  switch (lock_.take()) {
    case RunLock::Outcome::kTaken:
      break;
    case RunLock::Outcome::kRunning:
      log_.error(lock_.problem());
      return DaemonEnd::kAlreadyRunning;
    case RunLock::Outcome::kImpossible:
      log_.error(lock_.problem());
      return DaemonEnd::kImpossible;
  }
  const InheritedSockets inherited = take_inherited_sockets();
  open_history();
  refresher_.emplace(history_.get(), options_.all_users ? Viewers::Words() : ::geteuid());
  refresher_->refresh();
  handle_signals();
  if (const auto failed = open_http(inherited.http)) return *failed;
  open_recording();  // it moves what was recorded before: only a daemon that serves may
  open_legacy(inherited.legacy);
  start_work();
  tell_service_manager("READY=1");
  if (const auto pause = watchdog_pause()) {
    // Both threads are alive.
    loop_.every(*pause, [this] {
      worker_->add_own([] { return [] { tell_service_manager("WATCHDOG=1"); }; });
    });
  }
  loop_.run();
  stop();
  return DaemonEnd::kStopped;
}

void Daemon::open_history() {
  if (!options_.keeps_history) return;
  auto opened =
      history::History::open_or_memory(options_.history, {}, collect::Moment::now().wall_ns);
  history_ = std::move(opened.history);
  if (!opened.notice.empty()) log_.warn(opened.notice);
}

void Daemon::open_recording() {
  if (options_.recording.file.empty()) return;
  auto started = RollingRecording::start(options_.recording);
  if (!started) return log_.warn(started.error().message + "; nothing is recorded");
  recording_ = std::move(*started);
  log_.info(fmt::format("the last {} minutes are recorded in {}", options_.recording.minutes,
                        options_.recording.file));
}

std::optional<DaemonEnd> Daemon::open_http(int inherited) {
  if (!options_.http) return std::nullopt;
  routes_.emplace(sources());
  asides_.emplace(loop_, options_, lock_.directory());
  http_.emplace(
      loop_,
      HttpServerOptions{
          .host = options_.http_host,
          .port = options_.http_port,
          .inherited = inherited,
          .elsewhere = [this](loop::Worker::Piece piece) { worker_->add_own(std::move(piece)); }},
      [this](const http::Request& request, const HttpServer::Asker& asker,
             HttpServer::Answer answer) { ask(request, asker, std::move(answer)); });
  if (const auto problem = http_->open()) {
    log_.error(problem->taken ? problem->message +
                                    "; is another `ttmem serve` running? Stop it, or give "
                                    "this one another --http HOST:PORT"
                              : problem->message);
    return problem->taken ? DaemonEnd::kAlreadyRunning : DaemonEnd::kImpossible;
  }
  const auto shared = [](std::string text) {
    return std::make_shared<const std::string>(std::move(text));
  };
  constexpr const char* kBeat = ": still here\n\n";
  const http::StreamText beat{shared(kBeat), shared(http::gzip_piece(kBeat))};
  loop_.every(kHeartbeat, [this, beat] { http_->publish(http::Channel::kEverybody, beat); });
  open_local();  // whoever reads that we listen may ask at once, there too
  const std::string url = "http://" + http_->address();
  log_.info("listening on " + url);
  listening_(url + sessions_.make_link(::geteuid(), http::Sessions::Clock::now()));
  return std::nullopt;
}

// Commands of this machine ask here: the kernel says whose they are.
void Daemon::open_local() {
  if (!options_.all_users) viewers_ = std::make_unique<Viewers>(sources());
  local_.emplace(
      loop_, lock_.directory() + "/" + kLocalSocketName,
      [this](const http::Request& request, std::uint32_t uid, LocalServer::Answer answer) {
        ask_locally(request, uid, std::move(answer));
      });
  if (const auto problem = local_->open()) {
    log_.warn(*problem + "; commands are told only what everybody is told");
    local_.reset();
  }
}

void Daemon::open_legacy(int inherited) {
  if (options_.legacy_socket.empty() && inherited < 0) return;
  legacy::ServerOptions wanted;
  wanted.socket.path = options_.legacy_socket;
  wanted.socket.inherited = inherited;
  wanted.original_log = options_.log_format == LogFormat::kLegacy;
  legacy_.emplace(loop_, legacy_log(), wanted);
  if (const auto problem = legacy_->start(refresher_->snapshot())) {
    log_.warn(*problem + "; clients of the original are not served, the rest goes on");
    legacy_.reset();
    return;
  }
  refresher_->tell_original(wanted.original_log);
  log_.info("clients of the original are served at " + options_.legacy_socket);
}

void Daemon::start_work() {
  worker_.emplace(loop_);
  looks_.emplace(
      loop_, *worker_, *refresher_, viewers_.get(),
      [this] {
        return Looks::Audience{.has_streams = http_ && http_->streams() > 0,
                               .has_clients = legacy_ && legacy_->socket().connections() > 0};
      },
      [this](News&& news) { tell(std::move(news)); });
  looks_->start();
  if (!viewers_) return;
  loop_.every(10s, [this] {
    worker_->add_own([this]() -> loop::Worker::Done {
      viewers_->forget_idle();
      return nullptr;
    });
  });
}

void Daemon::tell(News&& news) {
  if (!news.notice.empty()) log_.warn(news.notice);
  if (legacy_ && news.snapshot) {
    legacy_->observe(*news.snapshot);
    if (!news.events.empty()) legacy_->tell(news.events, *news.snapshot);
  }
  if (!http_) return;
  for (const auto& [channel, text] : news.texts) http_->publish(channel, text);
}

void Daemon::stop() {
  tell_service_manager("STOPPING=1");
  asides_.reset();
  worker_.reset();
  if (legacy_) legacy_->stop();
  lines_.finish();
  recording_.reset();
  if (history_) {
    history_->close(history::Clocks::now(refresher_ ? refresher_->live().frame().boot_id : ""));
  }
  log_.info("stopped");
}

// ---- signals -----------------------------------------------------------------------------------

void Daemon::handle_signals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    loop_.on_signal(signal, [this] { loop_.stop(); });
  }
  loop_.on_signal(SIGHUP, [this] { reload(); });
  loop_.on_signal(SIGUSR1, [this] { summarise(); });
}

// What has a file or a socket stays until the next start.
void Daemon::reload() {
  const auto config = reload_();
  const auto options = config ? options_of(*config) : Result<ServeOptions>(config.error());
  if (!options) return log_.error("nothing was changed: " + options.error().message);
  for (const char* name : {"http", "legacy-socket", "history", "recording", "recording-minutes",
                           "recording-size", "fleet", "fleet-token-file"}) {
    if (config->value(name) == config_.value(name)) continue;
    log_.warn(
        fmt::format("{} stays {}: it can only be changed by a restart", name, config_.value(name)));
  }
  const bool legacy_before = options_.log_format == LogFormat::kLegacy;
  if (legacy_before == (options->log_format == LogFormat::kLegacy)) {
    options_.log_format = options->log_format;
    log_.set_format(options_.log_format);
  } else {
    log_.warn("log-format stays: to and from legacy it can only be changed by a restart");
  }
  options_.allow_remote = options->allow_remote;
  options_.token = options->token;
  options_.metrics_per_process = options->metrics_per_process;
  guard_ = http::Guard(guard_options());
  log_.info("settings reloaded");
}

void Daemon::summarise() {
  worker_->add_own([this, from_loop = from_loop(), streams = http_ ? http_->streams() : 0] {
    from_loop_ = from_loop;
    const view::SelfFigures figures = self();
    const std::string text = fmt::format(
        "{} devices, {} processes; {} refreshes, {} of them brought something new; {} requests, {} "
        "open streams, {} readers too slow; {:.1f} s of CPU time, {} KiB of memory",
        refresher_->snapshot().devices.size(), refresher_->snapshot().processes.size(),
        figures.refreshes, figures.snapshots, figures.requests, streams, figures.dropped,
        figures.cpu_seconds, figures.resident_bytes / 1024);
    return [this, text] {
      log_.info(text);
      if (legacy_) legacy_->print_statistics();
    };
  });
}

// ---- questions, in the loop --------------------------------------------------------------------

void Daemon::ask(const http::Request& request, const HttpServer::Asker& asker,
                 HttpServer::Answer answer) {
  const auto now = http::Sessions::Clock::now();
  auto refused = guard_.refusal(request);
  if (refused && refused->status == http::kNoToken) {
    if (auto page = http::page_answer(request)) refused = std::move(page);
  }
  if (refused) return answer(std::move(*refused));
  if (request.path == http::kEnter) return answer(sessions_.enter(request, now));
  const auto uid = sessions_.user_of(request, now);
  if (asides_->takes(request)) return asides_->ask(request, uid, asker, answer);
  if (worker_->waiting() >= kCrowd) http_->tell_askers_apart();
  work_out(request, whose_words(request, uid), asker, std::move(answer));
}

// Who has a connection of this machine as the daemon's own user is that user; to be another, a
// cookie must say so.
Whose Daemon::whose_words(const http::Request& request, std::optional<std::uint32_t> proved) const {
  if (viewers_ && guard_.has_token(request)) return Whose(std::in_place, std::nullopt);
  if (proved) return whose_words(*proved);
  return request.user == ::geteuid() ? Whose() : whose_words(Viewers::kNobody);
}

// Root may read every segment anyway.
Whose Daemon::whose_words(std::uint32_t uid) const {
  if (!viewers_ || (uid != 0 && uid == ::geteuid())) return {};
  if (uid == 0) return Whose(std::in_place, std::nullopt);
  return Whose(uid);
}

void Daemon::ask_locally(const http::Request& request, std::uint32_t uid,
                         LocalServer::Answer answer) {
  const auto owner = std::make_shared<const std::string>(owner_name(uid));
  const HttpServer::Asker asker = [owner] { return std::string_view(*owner); };
  if (asides_->takes(request)) return asides_->ask(request, uid, asker, answer);
  if (request.method != "GET" && !request.is_head()) {
    return answer(http::error(405, "this API is read-only: use GET or HEAD"));
  }
  if (request.path == "/api/v1/link") return answer(link_for(uid));
  if (request.path == "/api/v1/events") {
    return answer(http::error(404, "streams are served over TCP only"));
  }
  work_out(request, whose_words(uid), asker, std::move(answer));
}

http::Response Daemon::link_for(std::uint32_t uid) {
  const std::string link = sessions_.make_link(uid, http::Sessions::Clock::now());
  if (link.empty() || !http_) return http::error(500, "there is no page to link to");
  return http::json(fmt::format(R"({{"link":"http://{}{}"}})", http_->address(), link) + "\n");
}

void Daemon::work_out(const http::Request& request, const Whose& whose,
                      const HttpServer::Asker& asker, HttpServer::Answer answer) {
  worker_->add(asker,
               [this, request, whose, from_loop = from_loop(),
                answer = std::move(answer)]() -> loop::Worker::Done {
                 from_loop_ = from_loop;
                 auto response = std::make_shared<http::Response>(answer_safely(request, whose));
                 auto news = std::make_shared<News>(take_news(*refresher_, viewers_.get()));
                 return [this, response, news, answer] {
                   tell(std::move(*news));
                   const bool is_first = response->stream && http_->streams() == 0;
                   answer(std::move(*response));
                   if (is_first) looks_->hurry();
                 };
               });
}

FromLoop Daemon::from_loop() const {
  FromLoop taken{{.started_ns = started_ns_}, options_.metrics_per_process};
  if (http_) {
    taken.self.connections = http_->connections();
    taken.self.requests = http_->counts().requests;
    taken.self.dropped = http_->counts().too_slow;
  }
  const loop::Loop::Pauses longest = loop_.longest();
  taken.self.loop_pause_seconds = std::chrono::duration<double>(longest.wall).count();
  taken.self.loop_cpu_seconds = std::chrono::duration<double>(longest.cpu).count();
  if (worker_) {
    taken.self.work_cpu_seconds = std::chrono::duration<double>(worker_->longest()).count();
  }
  return taken;
}

// ---- answers, by the worker --------------------------------------------------------------------

http::RouteSources Daemon::sources() {
  return {.live = refresher_->live(),
          .collector = refresher_->collector(),
          .history = history_.get(),
          .refresh = [this] { refresher_->refresh_if_old(); },
          .metrics =
              [this](const std::optional<view::MetricsOptions>& chosen) {
                const view::MetricsOptions settings{.per_process = from_loop_.metrics_per_process};
                return view::metrics_text(refresher_->snapshot(), chosen.value_or(settings), self(),
                                          refresher_->launches(), refresher_->leaks());
              },
          .first_events =
              [this](const http::StreamOptions& reader, const std::string& last) {
                return refresher_->first_events(reader, last);
              },
          .recent_events = [this] { return refresher_->recent(); },
          .recordings =
              [this] {
                const ledger::Snapshot& frame = refresher_->live().frame();
                return recording_ ? recording_->json(frame) : no_recordings_json(frame);
              },
          .self = [this] { return self(); },
          .leaks = [this] { return refresher_->leaks(); },
          .engine = options_.engine ? options_.engine->authority() : std::string()};
}

// No question may end the daemon.
http::Response Daemon::answer_safely(const http::Request& request, const Whose& whose) {
  try {
    const bool is_own = !whose || !http::may_have_words(request.path);
    return is_own ? routes_->answer(request) : viewers_->answer(request, *whose);
  } catch (const std::exception& problem) {
    return http::error(500,
                       std::string("this should not happen, please report it: ") + problem.what());
  }
}

view::SelfFigures Daemon::self() const {
  const view::SelfFigures cost = own_cost();
  view::SelfFigures figures = from_loop_.self;
  figures.cpu_seconds = cost.cpu_seconds;
  figures.resident_bytes = cost.resident_bytes;
  const Refresher::Counts& counts = refresher_->counts();
  figures.refresh_seconds = counts.seconds;
  figures.refreshes = counts.refreshes;
  figures.snapshots = counts.changes;
  if (history_) {
    const history::Status status = history_->status();
    figures.history_bytes = status.file_bytes;
    figures.history_lost = status.lost_rows;
  }
  return figures;
}

}  // namespace

DaemonEnd run_daemon(const Config& config, const ServeOptions& options, const Reload& reload,
                     const Listening& listening) {
  ::signal(SIGPIPE, SIG_IGN);
  Daemon daemon(config, options, reload, listening);
  return daemon.run();
}

}  // namespace ttmem::serve
