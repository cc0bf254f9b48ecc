// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
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
constexpr auto kMoment = 20ms;    // of which one owner has
constexpr auto kShare = 5ms;      // at most this
constexpr auto kSilence = 20ms;   // after which a length is the form
constexpr auto kUnfinished = 5s;  // after which half a message is given up
constexpr auto kUnsent = 30s;     // after which a peer that is gone loses its answers

FileDescriptor open_spare() { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Socket::Socket(loop::Loop& loop, Service& service, SocketOptions options)
    : loop_(loop), service_(service), options_(std::move(options)), spare_(open_spare()) {}

Socket::~Socket() {
  if (listener_ >= 0) loop_.unwatch(listener_);
  if (silence_timer_ != 0) loop_.cancel(silence_timer_);
  if (stalled_timer_ != 0) loop_.cancel(stalled_timer_);
  if (held_timer_ != 0) loop_.cancel(held_timer_);
  if (left_out_timer_ != 0) loop_.cancel(left_out_timer_);
  for (const auto& [descriptor, connection] : connections_) loop_.unwatch(descriptor);
  service_.for_each_client([this](Client& client) {
    if (client.exit_descriptor) loop_.unwatch(client.exit_descriptor.get());
  });
}

std::optional<std::string> Socket::open() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const std::size_t most = limit.rlim_cur / 4 * 3;
    options_.most_connections = std::min(options_.most_connections, most);
  }
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
  left_out_timer_ = loop_.every(10s, [this] { service_.owner_log().tell_left_out(); });
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
    const int on = 1;
    ::setsockopt(peer.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    auto connection = std::make_unique<Connection>(std::move(peer), service_);
    if (!may_connect(connection->owner())) {
      ++counts_.refused;
      continue;
    }
    ++counts_.accepted;
    ++connections_of_[connection->owner()];
    watch(*connection);
    connections_[connection->descriptor()] = std::move(connection);
  }
}

bool Socket::may_connect(std::uint32_t owner) const {
  const auto found = connections_of_.find(owner);
  const std::size_t own = found == connections_of_.end() ? 0 : found->second;
  const std::size_t others = std::min(connections_.size() - own, options_.most_connections);
  return own < (options_.most_connections - others + 3) / 4;
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
  if (connection.held) return;
  const bool reads = !connection.ended && !connection.is_clogged();
  // What is pending needs no more bytes, only a turn: a socket that takes answers gives one at
  // once.
  const loop::Loop::Ready wanted{
      .readable = reads,
      .writable = connection.has_output() || (reads && connection.has_pending())};
  if (connection.watched == wanted) return;
  connection.watched = wanted;
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
  const auto own = connections_of_.find(found->second->owner());
  if (--own->second == 0) connections_of_.erase(own);
  connections_.erase(found);
  for (const std::int32_t pid : senders) {
    if (service_.client(pid).gone) on_exit(pid);
  }
}

void Socket::refuse(Connection& connection) {
  ++counts_.broken;
  if (!connection.problem().empty()) {
    service_.owner_log().error(connection.owner(), refused_stream_line(connection.problem()));
  }
  close(connection.descriptor());
}

void Socket::on_ready(int descriptor, loop::Loop::Ready ready) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  const std::uint32_t owner = found->second->owner();
  if (!has_time(owner)) return hold(*found->second);
  const auto begin = Connection::Clock::now();
  turn(*found->second, ready);
  service_.log().flush();
  spent_[owner].time += Connection::Clock::now() - begin;
}

void Socket::turn(Connection& connection, loop::Loop::Ready ready) {
  if (ready.writable && connection.has_output() && !connection.send()) {
    return close(connection.descriptor());
  }
  const bool has_work = ready.readable || connection.has_pending();
  if (has_work && !connection.ended && !connection.is_clogged()) {
    return read(connection, kBytesATurn);
  }
  if (connection.ended && !connection.has_output()) return close(connection.descriptor());
  watch(connection);
}

// ---- fairness ----------------------------------------------------------------------------------

bool Socket::has_time(std::uint32_t owner) {
  const auto now = Connection::Clock::now();
  Spent& spent = spent_[owner];
  if (now - spent.since >= kMoment) spent = {.since = now};
  return spent.time < kShare;
}

// Not watched meanwhile: the end of a peer would be told again and again.
void Socket::hold(Connection& connection) {
  loop_.unwatch(connection.descriptor());
  connection.watched.reset();
  connection.held = true;
  held_.push_back(connection.descriptor());
  if (held_timer_ != 0) return;
  held_timer_ = loop_.after(kMoment, [this] {
    held_timer_ = 0;
    release_held();
  });
}

void Socket::release_held() {
  for (const int descriptor : std::exchange(held_, {})) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end()) continue;
    found->second->held = false;
    watch(*found->second);
  }
}

void Socket::read(Connection& connection, std::size_t bytes) {
  using Read = Connection::Read;
  const Read result = connection.read(bytes);
  watch_clients(connection);
  if (result == Read::kBroken) return refuse(connection);
  if (connection.has_output()) service_.log().flush();  // whoever has an answer finds it logged
  if (!connection.send()) return close(connection.descriptor());
  if (result == Read::kEnded) {
    connection.ended = true;
    if (!connection.has_output()) return close(connection.descriptor());
  }
  watch(connection);
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

// Whatever it sent lies in its sockets already: that is read first, in turns.
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
  const auto until = Connection::Clock::now() + kShare;
  for (const int descriptor : its) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end() || found->second->ended) continue;
    Connection& connection = *found->second;
    const Connection::Read result = connection.read(kBytesATurn);
    watch_clients(connection);
    watch(connection);
    const bool has_more = result == Connection::Read::kMore && !connection.is_clogged();
    if (has_more || Connection::Clock::now() >= until) return exit_later(pid);
  }
  for (const auto& [descriptor, connection] : connections_) connection->forget(pid);
  service_.bury(pid);
}

void Socket::exit_later(std::int32_t pid) {
  loop_.after(kShare, [this, pid] {
    const Client* client = service_.find(pid);
    if (client != nullptr && client->gone) on_exit(pid);
  });
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
