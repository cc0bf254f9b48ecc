// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// HTTP on the daemon's loop: connections, keep-alive, streams. No peer makes another wait: a
// request has ten seconds to arrive, an answer thirty to be taken, and a stream whose reader falls
// more than 64 messages or 4 MiB behind is closed. Answers that nobody takes may have 64 MiB
// together; the slowest readers are given up first. Of the connections one user of this machine, or
// one address elsewhere, has a quarter of what the others leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";       // an address, or "localhost"
  std::uint16_t port = 7171;            // 0 = any that is free
  int inherited = -1;                   // a listening socket that a service manager made
  std::size_t most_connections = 4096;  // at most a quarter of the descriptors
};

class HttpServer {
 public:
  using Handler = std::function<http::Response(const http::Request&)>;

  // The loop outlives it.
  HttpServer(loop::Loop& loop, HttpServerOptions options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  struct Problem {
    std::string message;
    bool taken = false;  // somebody else listens there
  };
  std::optional<Problem> open();
  // "127.0.0.1:7171", as it really is.
  std::string address() const;

  // To every stream of the channel, after what it got before. Packed once for all who take gzip.
  void publish(http::Channel channel, const http::SharedText& text);
  std::size_t streams() const;
  bool has_readers(http::Channel channel) const;
  std::size_t connections() const;  // streams included

  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t refused = 0;   // too many connections
    std::uint64_t bad = 0;       // not HTTP, or too large
    std::uint64_t too_slow = 0;  // requests, answers and streams that were given up
  };
  const Counts& counts() const;

 private:
  struct State;
  loop::Loop& loop_;
  std::shared_ptr<State> state_;
  loop::Loop::TimerId sweep_timer_ = 0;
};

}  // namespace ttmem::serve
