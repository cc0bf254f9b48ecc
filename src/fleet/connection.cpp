// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/connection.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace ttmem::fleet {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<Addresses> resolve(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (error != 0) {
    return failed(url, fmt::format("the name cannot be resolved: {}", ::gai_strerror(error)));
  }
  return Addresses(found, ::freeaddrinfo);
}

// Connected, in plain.
Result<Connection> connect_plain(const Url& url, Connection::Clock::time_point deadline) {
  const auto addresses = resolve(url);
  if (!addresses) return addresses.error();
  int error = ECONNREFUSED;
  for (const addrinfo* each = addresses->get(); each != nullptr; each = each->ai_next) {
    FileDescriptor socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) continue;
    const int descriptor = socket.get();
    Connection connection(std::move(socket), deadline);
    if (::connect(descriptor, each->ai_addr, each->ai_addrlen) == 0) return connection;
    error = errno;
    if (error != EINPROGRESS) continue;
    if (!connection.wait(POLLOUT)) return failed(url, "no answer in time");
    socklen_t size = sizeof error;
    ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return connection;
  }
  return failed(url, std::strerror(error));
}

}  // namespace

Error failed(const Url& url, const std::string& why) {
  return {ErrorCode::kSystem, fmt::format("{}: {}", url.authority(), why)};
}

bool Connection::wait(short events) const {
  for (;;) {
    pollfd entry{socket_.get(), events, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    if (left.count() <= 0) return false;
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready == 1) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::optional<Error> Connection::secure(const Url& url) {
  auto tls = Tls::begin(socket_.get(), url.host, [this](short events) { return wait(events); });
  if (!tls) return failed(url, is_late() ? "no answer in time" : tls.error().message);
  tls_ = std::move(*tls);
  return std::nullopt;
}

bool Connection::send(std::string_view text) const {
  while (!text.empty()) {
    if (tls_) {
      const auto count = tls_->send(text, [this](short events) { return wait(events); });
      if (!count) return false;
      text.remove_prefix(*count);
      continue;
    }
    if (!wait(POLLOUT)) return false;
    const ssize_t count = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<std::size_t> Connection::receive(std::string& text) const {
  std::array<char, 65536> bytes;
  if (tls_) {
    const auto count =
        tls_->receive(bytes.data(), bytes.size(), [this](short events) { return wait(events); });
    if (count) text.append(bytes.data(), *count);
    return count;
  }
  for (;;) {
    if (!wait(POLLIN)) return std::nullopt;
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return std::nullopt;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    return static_cast<std::size_t>(count);
  }
}

Result<Connection> connect(const Url& url, Connection::Clock::time_point deadline) {
  auto connection = connect_plain(url, deadline);
  if (!connection || !url.secure) return connection;
  if (auto error = connection->secure(url)) return std::move(*error);
  return connection;
}

}  // namespace ttmem::fleet
