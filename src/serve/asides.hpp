// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Questions that are not about the present of this host: recordings that were opened, and the
// fleet. They may take long, so each kind has a thread of its own, from its first question on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "loop/worker.hpp"
#include "serve/config.hpp"
#include "serve/fleet_watch.hpp"
#include "serve/http/request.hpp"
#include "serve/http_server.hpp"
#include "serve/opened_recordings.hpp"

namespace ttmem::serve {

class Asides {
 public:
  // `directory`: where the daemon has its segments. The loop outlives it.
  Asides(loop::Loop& loop, const ServeOptions& options, const std::string& directory);

  bool takes(const http::Request& request) const;
  // `uid`: who the asker has proved to be.
  void ask(const http::Request& request, std::optional<std::uint32_t> uid,
           const HttpServer::Asker& asker, const HttpServer::Answer& answer);

 private:
  std::optional<http::Response> refusal(const http::Request& request,
                                        std::optional<std::uint32_t> uid) const;

  loop::Loop& loop_;
  bool host_wide_;
  OpenedRecordings recordings_;
  std::optional<FleetWatch> fleet_;
  // The last: they end first.
  std::optional<loop::Worker> replays_, engine_;
};

}  // namespace ttmem::serve
