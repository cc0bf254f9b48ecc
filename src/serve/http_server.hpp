// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// HTTP on the daemon's loop: connections, keep-alive, streams. No peer makes another wait: a
// request has ten seconds to arrive, an answer thirty to be found and as many to be taken, and a
// stream whose reader falls
// more than 64 messages or 4 MiB behind is closed. Answers that nobody takes may have 64 MiB
// together; the slowest readers are given up first. Of the connections one user of this machine, or
// one address elsewhere, has a quarter of what the others leave. Nothing here takes long: what is
// done for many is done for some of them in each turn of the loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";       // an address, or "localhost"
  std::uint16_t port = 7171;            // 0 = any that is free
  int inherited = -1;                   // a listening socket that a service manager made
  std::size_t most_connections = 4096;  // at most a quarter of the descriptors
  // Whoever asks is told that the daemon is busy when there is no answer after so long.
  std::chrono::milliseconds answer_time{30'000};
  // Does what takes long elsewhere, and then what that returns in the loop.
  std::function<void(std::function<std::function<void()>()>)> elsewhere;
};

class HttpServer {
 public:
  // Gives the answer, now or later, in the loop.
  using Answer = std::function<void(http::Response)>;
  // Who asks, as far as it is known: a user of this machine ("user 1000") or an address. To be
  // asked again later, in the loop.
  using Asker = std::function<std::string_view()>;
  using Handler = std::function<void(const http::Request&, const Asker&, Answer)>;

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

  // To every stream of the channel, after what it got before.
  void publish(http::Channel channel, const http::StreamText& text);
  std::size_t streams() const;
  std::size_t connections() const;  // streams included
  // Answers wait: finds out whose the connections are, unless that was done a moment ago.
  void tell_askers_apart();

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
