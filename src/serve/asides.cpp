// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/asides.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "serve/http/recordings_path.hpp"
#include "serve/rolling_recording.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kFleetPath = "/api/v1/fleet";
constexpr auto kEngineTime = 10s;
constexpr auto kSweep = 60s;

// A directory that others may write to is everybody's, and so is its daemon.
bool is_shared(const std::string& directory) {
  struct stat facts{};
  return ::stat(directory.c_str(), &facts) != 0 ||
         (facts.st_mode & (S_ISGID | S_IWGRP | S_IWOTH)) != 0;
}

std::vector<std::string> kept_by(const RollingOptions& options) {
  return options.file.empty() ? std::vector<std::string>() : RollingRecording::files(options.file);
}

std::optional<FleetWatch> watch(const ServeOptions& options) {
  if (!options.engine) return std::nullopt;
  fleet::Headers headers;
  if (!options.engine_token.empty()) {
    headers.push_back(fleet::authorization(options.engine_token));
  }
  return FleetWatch(fleet::Engine(*options.engine, std::move(headers), kEngineTime));
}

// No question may end the daemon.
http::Response safely(const std::function<http::Response()>& answer) {
  try {
    return answer();
  } catch (const std::exception& problem) {
    return http::error(500,
                       std::string("this should not happen, please report it: ") + problem.what());
  }
}

void work_out(loop::Worker& worker, const HttpServer::Asker& asker,
              const HttpServer::Answer& answer, std::function<http::Response()> question) {
  worker.add(asker, [answer, question = std::move(question)]() -> loop::Worker::Done {
    auto response = std::make_shared<http::Response>(safely(question));
    return [answer, response] { answer(std::move(*response)); };
  });
}

}  // namespace

Asides::Asides(loop::Loop& loop, const ServeOptions& options, const std::string& directory)
    : loop_(loop),
      host_wide_(is_shared(directory)),
      recordings_(kept_by(options.recording)),
      fleet_(watch(options)) {}

bool Asides::takes(const http::Request& request) const {
  return request.path == kFleetPath || http::opens_recording(request.method, request.path) ||
         (request.path.starts_with("/api/v1/") && request.parameter("recording") != nullptr);
}

// The daemon of a host is everybody's: a stranger's file is not its business.
std::optional<http::Response> Asides::refusal(const http::Request& request,
                                              std::optional<std::uint32_t> uid) const {
  if (!request.from_loopback || host_wide_) {
    return http::error(403,
                       "this daemon is not yours alone: look at the file with `ttmem serve --from "
                       "FILE --open`");
  }
  if (uid != ::geteuid()) {
    return http::error(403,
                       "only who started this daemon can open recordings in it, by the link of "
                       "`ttmem serve --open`; `ttmem serve --from FILE --open` needs no daemon");
  }
  return std::nullopt;
}

void Asides::ask(const http::Request& request, std::optional<std::uint32_t> uid,
                 const HttpServer::Asker& asker, const HttpServer::Answer& answer) {
  if (request.path == kFleetPath) {
    if (!fleet_) {
      return answer(http::error(404, "this daemon knows no engine: start it with --fleet URL"));
    }
    if (!engine_) engine_.emplace(loop_);
    return work_out(*engine_, asker, answer, [this] { return fleet_->answer(); });
  }
  if (auto refused = refusal(request, uid)) return answer(std::move(*refused));
  if (!replays_) {
    replays_.emplace(loop_);
    loop_.every(kSweep, [this] {
      replays_->add_own([this]() -> loop::Worker::Done {
        recordings_.forget_idle(OpenedRecordings::Clock::now());
        return nullptr;
      });
    });
  }
  work_out(*replays_, asker, answer, [this, request] { return recordings_.answer(request); });
}

}  // namespace ttmem::serve
