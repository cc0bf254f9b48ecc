// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One connection to one address, plain or by TLS, with one deadline for everything.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "fleet/http_client.hpp"
#include "fleet/tls.hpp"

namespace ttmem::fleet {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(FileDescriptor socket, Clock::time_point deadline)
      : socket_(std::move(socket)), deadline_(deadline) {}

  // Speaks TLS from now on.
  std::optional<Error> secure(const Url& url);

  // True when it is ready for these events of poll before the deadline.
  bool wait(short events) const;
  bool send(std::string_view text) const;
  // Appends what comes next. 0 at the end; empty if nothing came in time, or the peer is gone.
  std::optional<std::size_t> receive(std::string& text) const;

  bool is_late() const { return Clock::now() >= deadline_; }

 private:
  FileDescriptor socket_;
  Clock::time_point deadline_;
  std::optional<Tls> tls_;
};

Result<Connection> connect(const Url& url, Connection::Clock::time_point deadline);

// "host:port: why"
Error failed(const Url& url, const std::string& why);

}  // namespace ttmem::fleet
