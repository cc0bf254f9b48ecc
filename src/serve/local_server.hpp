// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// HTTP over a UNIX socket, for commands on this machine. Here the kernel says who asks
// (SO_PEERCRED), which it does not over TCP: so whoever asks here can be told their own words. One
// request per connection, no streams.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/file_descriptor.hpp"
#include "loop/loop.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve {

// Its name, in the directory of segments.
inline constexpr const char* kLocalSocketName = "serve.sock";

class LocalServer {
 public:
  // Gives the answer, now or later, in the loop.
  using Answer = std::function<void(http::Response)>;
  // `uid`: who asks.
  using Handler = std::function<void(const http::Request& request, std::uint32_t uid, Answer)>;

  // The loop outlives it.
  LocalServer(loop::Loop& loop, std::string path, Handler handler);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // Why it cannot listen; nothing = it does. A socket that a daemon of before left is replaced:
  // whoever serves this directory holds its lock.
  std::optional<std::string> open();
  const std::string& path() const { return path_; }

 private:
  struct Connection;

  void accept();
  void turn(int descriptor, loop::Loop::Ready ready);
  void ask(const std::shared_ptr<Connection>& connection);
  void answer(Connection& connection, const http::Response& response);
  void close(int descriptor);
  bool has_room_for(std::uint32_t uid) const;

  loop::Loop& loop_;
  std::string path_;
  Handler handler_;
  FileDescriptor listener_;
  std::unordered_map<int, std::shared_ptr<Connection>> connections_;
};

}  // namespace ttmem::serve
