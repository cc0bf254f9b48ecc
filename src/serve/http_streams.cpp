// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Streams, and what is done for many connections: some of them in each turn of the loop.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.hpp"
#include "serve/http/guard.hpp"
#include "serve/http_server_state.hpp"

// The library's calls give the error back twice: the argument is the one that is looked at.
// NOLINTBEGIN(bugprone-unused-return-value)

namespace ttmem::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using http::Response;
using http::SharedText;
using namespace std::chrono_literals;

namespace {

constexpr auto kTurn = 4ms;          // for what is done for many connections, one after the other
constexpr auto kSharePause = 200ms;  // between two looks at whose connections they are
constexpr std::size_t kDroppedBytes = 8 * 1024;  // that a reader sends, at a time

}  // namespace

void HttpServer::State::start_stream(Connection& connection, Response response) {
  if (connection.closing) return;  // what is to be closed is the connection's own socket
  const auto stream = std::make_shared<Stream>(Stream{{.socket = std::move(connection.socket),
                                                       .number = connection.number,
                                                       .owner = connection.owner},
                                                      *response.stream,
                                                      std::move(response.reader)});
  http::add_security_headers(response);
  stream->queue.begin_with(
      std::make_shared<const std::string>(http::head(response, false) + response.start));
  for (const SharedText& part : response.rest) stream->queue.begin_with(part);
  streams.insert(stream);
  flush(stream);
  await_end(stream);
}

// A reader that leaves is noticed at once; what it may send is dropped.
void HttpServer::State::await_end(const StreamPointer& stream) {
  stream->socket.async_wait(tcp::socket::wait_read,
                            [self = shared_from_this(), stream](const error_code& failed) {
                              if (failed) self->streams.erase(stream);
                              if (!self->streams.contains(stream)) return;
                              std::array<char, kDroppedBytes> bytes;
                              error_code error;
                              stream->socket.read_some(asio::buffer(bytes), error);
                              if (error && error != asio::error::would_block) {
                                self->drop(stream);
                                return;
                              }
                              self->await_end(stream);
                            });
}

// A reader that fell too far behind is given up.
void HttpServer::State::flush(const StreamPointer& stream) {
  if (stream->queue.is_behind()) {
    ++counts.too_slow;
    drop(stream);
    return;
  }
  error_code error;
  while (!stream->queue.empty() && !stream->blocked) {
    const std::string_view text = stream->queue.front();
    const std::size_t count =
        stream->socket.write_some(asio::buffer(text.data(), text.size()), error);
    if (error && error != asio::error::would_block) {
      drop(stream);
      return;
    }
    stream->blocked = static_cast<bool>(error);
    stream->queue.sent(count);
  }
  if (!stream->blocked) return;
  stream->socket.async_wait(tcp::socket::wait_write,
                            [self = shared_from_this(), stream](const error_code& failed) {
                              if (failed || !self->streams.contains(stream)) return;
                              stream->blocked = false;
                              self->flush(stream);
                            });
}

// Closing ends what waits for the socket, and with it the last holders of the stream.
void HttpServer::State::drop(const StreamPointer& stream) {
  error_code error;
  stream->socket.close(error);
  streams.erase(stream);
}

void HttpServer::State::publish(http::Channel channel, const http::StreamText& text) {
  for (const StreamPointer& stream : streams) {
    if (!http::is_for(stream->options, channel)) continue;
    if (channel != http::Channel::kEverybody && stream->options.audience != text.audience) continue;
    TTMEM_DCHECK(!stream->options.gzip || text.packed);
    stream->queue.add(stream->options.gzip ? text.packed : text.plain);
    if (!stream->blocked || stream->queue.is_behind()) list(stream);
  }
  work_on_lists();
}

// ---- what is done for many: some of them in each turn ------------------------------------------

void HttpServer::State::list(const StreamPointer& stream) {
  if (std::exchange(stream->listed, true)) return;
  to_flush.push_back(stream);
}

void HttpServer::State::close_later(PeerPointer peer) {
  if (std::exchange(peer->closing, true)) return;
  to_close.push_back(std::move(peer));
}

void HttpServer::State::work_on_lists() {
  if (lists_are_due) return;
  const auto until = Peer::Clock::now() + kTurn;
  while ((!to_flush.empty() || !to_close.empty()) && Peer::Clock::now() < until) {
    if (!to_flush.empty()) {
      const StreamPointer stream = std::move(to_flush.front());
      to_flush.pop_front();
      stream->listed = false;
      if (stream->socket.is_open()) flush(stream);
    }
    if (!to_close.empty()) {
      error_code error;
      to_close.front()->socket.close(error);  // whoever waits for it finds out and ends
      to_close.pop_front();
    }
  }
  if (to_flush.empty() && to_close.empty()) return;
  lists_are_due = true;
  asio::post(context, [self = shared_from_this()] {
    self->lists_are_due = false;
    self->work_on_lists();
  });
}

// ---- the rest ----------------------------------------------------------------------------------

void HttpServer::State::sweep() {
  const auto now = Peer::Clock::now();
  for (const auto& connection : connections) {
    if (connection->deadline > now || connection->closing) continue;
    ++counts.too_slow;
    close_later(connection);
  }
  work_on_lists();
}

// ---- fairness ----------------------------------------------------------------------------------

bool HttpServer::State::has_room() {
  const std::size_t count = connections.size() + streams.size();
  const bool crowded = count >= options.most_connections / 8;
  if (crowded) share_out();
  return connections.size() + streams.size() < options.most_connections;
}

// Finds out whose those are that came since the last time, and then what is too much.
// Whoever comes too early for that gets its turn nevertheless: nobody may follow who asks again.
void HttpServer::State::share_out() {
  if (share_is_due) return;
  const auto pause = shared_out + kSharePause - Peer::Clock::now();
  if (makes_room() || pause > 0ms) return share_out_later(std::max(pause, {kTurn}));
  // By number: a connection may become a stream meanwhile.
  std::vector<std::uint64_t> unknown;
  std::vector<PeerEnds> ends;
  for_each_peer([&](const PeerPointer& peer) {
    if (!peer->owner.empty()) return;
    error_code error;
    PeerEnds both{peer->socket.remote_endpoint(error), {}};
    if (!error) both.own = peer->socket.local_endpoint(error);
    if (error) return;  // it is gone, and noticed soon
    unknown.push_back(peer->number);
    ends.push_back(std::move(both));
  });
  std::function<std::function<void()>()> find_out = [self = shared_from_this(), unknown,
                                                     ends]() -> std::function<void()> {
    std::vector<std::string> names = owners_at(ends, self->owners);
    std::unordered_map<std::uint64_t, std::string> name_of;
    for (std::size_t i = 0; i < names.size(); ++i) name_of.emplace(unknown[i], std::move(names[i]));
    return [self, name_of = std::move(name_of)] {
      self->for_each_peer([&](const PeerPointer& peer) {
        const auto found = name_of.find(peer->number);
        if (found != name_of.end()) peer->owner = found->second;
      });
      self->is_sharing_out = false;
      self->close_excess();
    };
  };
  is_sharing_out = true;
  try {
    options.elsewhere(std::move(find_out));
  } catch (...) {
    is_sharing_out = false;
    throw;
  }
}

void HttpServer::State::share_out_later(Peer::Clock::duration pause) {
  share_is_due = true;
  share_timer.expires_after(pause);
  share_timer.async_wait([self = shared_from_this()](const error_code& failed) {
    if (failed) return;
    self->share_is_due = false;
    self->share_out();
  });
}

// One owner has a quarter of what the others leave; the newest of its connections go. Those that
// came while it was found out whose the others are have no owner yet: their turn is the next time.
void HttpServer::State::close_excess() {
  shared_out = Peer::Clock::now();
  std::vector<PeerPointer> peers;
  std::size_t unknown = 0;
  for_each_peer([&](const PeerPointer& peer) {
    if (peer->owner.empty()) {
      ++unknown;
    } else {
      peers.push_back(peer);
    }
  });
  std::ranges::sort(peers, {}, &Peer::number);
  const std::vector<PeerPointer> beyond = beyond_share(peers, options.most_connections);
  sharing_helps = unknown > 0 || peers.size() - beyond.size() < options.most_connections;
  for (const PeerPointer& peer : beyond) {
    ++counts.refused;
    close_later(peer);
  }
  work_on_lists();
}

}  // namespace ttmem::serve

// NOLINTEND(bugprone-unused-return-value)
