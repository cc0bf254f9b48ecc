// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "legacy/server_texts.hpp"

namespace ttmem::legacy {
namespace {

using namespace std::chrono_literals;

constexpr int kAcceptsATurn = 64;
constexpr std::size_t kBytesATurn = 512 * 1024;
constexpr std::size_t kBytesOfTheDead = 8 * 1024 * 1024;  // more than a socket holds
constexpr auto kSilence = 20ms;                           // after which a length is the form
constexpr auto kUnfinished = 5s;                          // after which half a message is given up
constexpr auto kUnsent = 30s;  // after which a peer that is gone loses its answers

FileDescriptor open_spare() { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Socket::Socket(loop::Loop& loop, Service& service, SocketOptions options)
    : loop_(loop), service_(service), options_(std::move(options)), spare_(open_spare()) {}

Socket::~Socket() {
  if (listener_ >= 0) loop_.unwatch(listener_);
  if (silence_timer_ != 0) loop_.cancel(silence_timer_);
  if (stalled_timer_ != 0) loop_.cancel(stalled_timer_);
  for (const auto& [descriptor, connection] : connections_) loop_.unwatch(descriptor);
  service_.for_each_client([this](Client& client) {
    if (client.exit_descriptor) loop_.unwatch(client.exit_descriptor.get());
  });
}

std::optional<std::string> Socket::open() {
  if (options_.inherited >= 0) {
    listener_ = options_.inherited;
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    ::fcntl(listener_, F_SETFL, ::fcntl(listener_, F_GETFL) | O_NONBLOCK);
  } else {
    auto taken = SocketPath::take(options_.path, options_.mode, options_.group);
    if (!taken) return taken.error().message;
    path_ = std::move(*taken);
    listener_ = path_->listener();
  }
  service_.adopt();
  service_.for_each_client([this](Client& client) { watch_client(client); });
  loop_.watch(listener_, {.readable = true}, [this](loop::Loop::Ready) { accept(); });
  stalled_timer_ = loop_.every(1s, [this] { look_for_stalled(); });
  return std::nullopt;
}

// ---- connections -------------------------------------------------------------------------------

void Socket::accept() {
  for (int i = 0; i < kAcceptsATurn; ++i) {
    FileDescriptor peer(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!peer) {
      if (errno == EMFILE || errno == ENFILE) make_room();
      return;
    }
    if (connections_.size() >= options_.most_connections) {
      ++counts_.refused;
      continue;
    }
    const int on = 1;
    ::setsockopt(peer.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    ++counts_.accepted;
    auto& connection = connections_[peer.get()];
    connection = std::make_unique<Connection>(std::move(peer), service_);
    watch(*connection);
  }
}

// No descriptor is left: the next one in line is turned away, so that it does not wait for ever.
void Socket::make_room() {
  ++counts_.refused;
  if (counts_.refused == 1) service_.log().error("Accept failed\n");
  spare_.reset();
  spare_.reset(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
  spare_ = open_spare();
}

void Socket::watch(Connection& connection) {
  const loop::Loop::Ready wanted{.readable = !connection.ended && !connection.is_clogged(),
                                 .writable = connection.has_output()};
  loop_.watch(connection.descriptor(), wanted,
              [this, descriptor = connection.descriptor()](loop::Loop::Ready ready) {
                on_ready(descriptor, ready);
              });
}

void Socket::close(int descriptor) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  loop_.unwatch(descriptor);
  const std::vector<std::int32_t> senders = found->second->senders();
  connections_.erase(found);
  for (const std::int32_t pid : senders) {
    if (service_.client(pid).gone) on_exit(pid);
  }
}

void Socket::refuse(Connection& connection) {
  ++counts_.broken;
  if (!connection.problem().empty()) {
    service_.log().error(refused_stream_line(connection.problem()));
  }
  close(connection.descriptor());
}

void Socket::on_ready(int descriptor, loop::Loop::Ready ready) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  const bool wanted = connection.has_output();
  if (ready.readable && !connection.ended) {
    read(connection, kBytesATurn);
  } else if (ready.writable || connection.ended) {
    const bool sent = connection.send();
    if (!sent || (connection.ended && !connection.has_output())) {
      close(descriptor);
    } else if (wanted != connection.has_output() || !connection.is_clogged()) {
      watch(connection);
    }
  }
  service_.log().flush();
}

void Socket::read(Connection& connection, std::size_t bytes) {
  using Read = Connection::Read;
  const bool had_output = connection.has_output();
  const Read result = connection.read(bytes);
  watch_clients(connection);
  if (result == Read::kBroken) return refuse(connection);
  if (connection.has_output()) service_.log().flush();  // whoever has an answer finds it logged
  if (!connection.send()) return close(connection.descriptor());
  if (result == Read::kEnded) {
    connection.ended = true;
    if (!connection.has_output()) return close(connection.descriptor());
  }
  if (connection.has_output() || had_output) watch(connection);
  if (connection.awaits_silence()) await_silence();
  if (result == Read::kDrained) bury_gone(connection);
}

// ---- the end of processes ----------------------------------------------------------------------

void Socket::watch_clients(const Connection& connection) {
  for (const std::int32_t pid : connection.senders()) watch_client(service_.client(pid));
}

void Socket::watch_client(Client& client) {
  if (client.gone || client.watched) return;
  client.watched = true;
  loop_.watch(client.exit_descriptor.get(), {.readable = true},
              [this, pid = client.pid()](loop::Loop::Ready) {
                on_exit(pid);
                service_.log().flush();
              });
}

// Whatever it sent lies in its sockets already: that is read first.
void Socket::on_exit(std::int32_t pid) {
  Client& client = service_.client(pid);
  if (client.watched) loop_.unwatch(client.exit_descriptor.get());
  client.watched = false;
  client.gone = true;
  std::vector<int> its;
  for (const auto& [descriptor, connection] : connections_) {
    if (std::ranges::find(connection->senders(), pid) != connection->senders().end()) {
      its.push_back(descriptor);
    }
  }
  for (const int descriptor : its) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end() || found->second->ended) continue;
    found->second->read(kBytesOfTheDead);
    watch_clients(*found->second);
  }
  for (const auto& [descriptor, connection] : connections_) connection->forget(pid);
  service_.bury(pid);
}

// Processes that had ended before their first message was read.
void Socket::bury_gone(const Connection& connection) {
  // A copy, because on_exit takes the dead out of the connection's own list.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::vector<std::int32_t> senders = connection.senders();
  for (const std::int32_t pid : senders) {
    if (service_.client(pid).gone) on_exit(pid);
  }
}

// ---- silence -----------------------------------------------------------------------------------

void Socket::await_silence() {
  if (silence_timer_ != 0) return;
  silence_timer_ = loop_.after(kSilence, [this] {
    silence_timer_ = 0;
    look_for_silence();
    service_.log().flush();
  });
}

void Socket::look_for_silence() {
  const auto now = Connection::Clock::now();
  std::vector<int> silent;
  bool others = false;
  for (const auto& [descriptor, connection] : connections_) {
    if (!connection->awaits_silence()) continue;
    if (now - connection->last_read() >= kSilence) {
      silent.push_back(descriptor);
    } else {
      others = true;
    }
  }
  for (const int descriptor : silent) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    const bool good = connection.silence();
    watch_clients(connection);
    service_.log().flush();
    if (!good) {
      refuse(connection);
    } else if (!connection.send()) {
      close(descriptor);
    } else {
      if (connection.has_output()) watch(connection);
      bury_gone(connection);
    }
  }
  if (others) await_silence();
}

void Socket::look_for_stalled() {
  const auto now = Connection::Clock::now();
  std::vector<int> unfinished, unsent;
  for (const auto& [descriptor, connection] : connections_) {
    const auto quiet = now - connection->last_read();
    if (!connection->ended && connection->is_unfinished() && !connection->is_clogged() &&
        quiet > kUnfinished) {
      unfinished.push_back(descriptor);
    }
    if (connection->ended && quiet > kUnsent) unsent.push_back(descriptor);
  }
  for (const int descriptor : unfinished) refuse(*connections_.at(descriptor));
  for (const int descriptor : unsent) close(descriptor);
  if (!unfinished.empty()) service_.log().flush();
}

}  // namespace ttmem::legacy
