// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/local_server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;  // for a request and its answer
constexpr std::size_t kMostConnections = 64;
constexpr std::size_t kMostOfOneUser = 16;

}  // namespace

struct LocalServer::Connection {
  FileDescriptor socket;
  std::uint32_t uid = 0;
  http::RequestParser parser;
  std::string answer;  // "" = the request is not whole yet
  std::size_t sent = 0;
  loop::Loop::TimerId deadline = 0;
};

LocalServer::LocalServer(loop::Loop& loop, std::string path, Handler handler)
    : loop_(loop), path_(std::move(path)), handler_(std::move(handler)) {}

LocalServer::~LocalServer() {
  while (!connections_.empty()) close(connections_.begin()->first);
  if (!listener_) return;
  loop_.unwatch(listener_.get());
  ::unlink(path_.c_str());
}

std::optional<std::string> LocalServer::open() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) return path_ + " is too long for a socket";
  std::memcpy(address.sun_path, path_.data(), path_.size());
  struct stat status;
  if (::lstat(path_.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path_.c_str());
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Everybody who reaches the directory may ask: what they are told depends on who they are.
  const bool listens =
      listener_ &&
      ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::chmod(path_.c_str(), 0666) == 0 && ::listen(listener_.get(), 64) == 0;
  if (!listens) {
    const std::string why = std::strerror(errno);
    listener_.reset();
    return fmt::format("cannot listen on {}: {}", path_, why);
  }
  loop_.watch(listener_.get(), {.readable = true}, [this](loop::Loop::Ready) { accept(); });
  return std::nullopt;
}

bool LocalServer::has_room_for(std::uint32_t uid) const {
  const auto own = std::ranges::count_if(
      connections_, [uid](const auto& each) { return each.second->uid == uid; });
  return connections_.size() < kMostConnections && static_cast<std::size_t>(own) < kMostOfOneUser;
}

void LocalServer::accept() {
  FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      !has_room_for(peer.uid)) {
    return;
  }
  const int descriptor = socket.get();
  auto connection = std::make_shared<Connection>();
  connection->socket = std::move(socket);
  connection->uid = peer.uid;
  connection->deadline = loop_.after(kPatience, [this, descriptor] { close(descriptor); });
  connections_.emplace(descriptor, std::move(connection));
  loop_.watch(descriptor, {.readable = true},
              [this, descriptor](loop::Loop::Ready ready) { turn(descriptor, ready); });
}

void LocalServer::turn(int descriptor, loop::Loop::Ready ready) {
  const std::shared_ptr<Connection> connection = connections_.at(descriptor);
  if (ready.readable && connection->answer.empty()) {
    std::array<char, 8192> bytes;
    const ssize_t count = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return close(descriptor);
    const auto state = connection->parser.feed({bytes.data(), static_cast<std::size_t>(count)});
    if (state == http::RequestParser::State::kMore) return;
    loop_.unwatch(descriptor);
    if (state == http::RequestParser::State::kDone) return ask(connection);
    return answer(*connection,
                  http::error(connection->parser.status(), connection->parser.problem()));
  }
  if (connection->answer.empty()) return;
  const ssize_t count = ::send(descriptor, connection->answer.data() + connection->sent,
                               connection->answer.size() - connection->sent, MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) connection->sent += static_cast<std::size_t>(count);
  if (count <= 0 || connection->sent == connection->answer.size()) close(descriptor);
}

void LocalServer::ask(const std::shared_ptr<Connection>& connection) {
  handler_(connection->parser.request(), connection->uid,
           [this, asking = std::weak_ptr(connection)](const http::Response& response) {
             if (const auto known = asking.lock()) answer(*known, response);  // else it went away
           });
}

void LocalServer::answer(Connection& connection, const http::Response& response) {
  connection.answer = http::head(response, false);
  if (!connection.parser.request().is_head()) {
    connection.answer += response.start;
    for (const http::SharedText& text : response.rest) connection.answer += *text;
  }
  const int descriptor = connection.socket.get();
  loop_.watch(descriptor, {.writable = true},
              [this, descriptor](loop::Loop::Ready ready) { turn(descriptor, ready); });
}

void LocalServer::close(int descriptor) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  loop_.cancel(found->second->deadline);
  loop_.unwatch(descriptor);
  connections_.erase(found);
}

}  // namespace ttmem::serve
