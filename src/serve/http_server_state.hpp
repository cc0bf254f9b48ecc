// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The inside of the HTTP server: http_server.cpp has requests and answers, http_streams.cpp what is
// done for many connections.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "serve/http/request.hpp"
#include "serve/http_peers.hpp"
#include "serve/http_server.hpp"
#include "serve/peer_owners.hpp"

namespace ttmem::serve {

using StreamPointer = std::shared_ptr<Stream>;

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& where, HttpServerOptions wanted, Handler what)
      : context(where),
        options(std::move(wanted)),
        handler(std::move(what)),
        acceptor(where),
        share_timer(where) {}

  std::optional<Problem> open();
  boost::asio::awaitable<void> accept();
  boost::asio::awaitable<bool> accept_one(boost::asio::steady_timer& pause);
  boost::asio::awaitable<void> serve(std::shared_ptr<Connection> connection);
  boost::asio::awaitable<bool> answer(const std::shared_ptr<Connection>& connection,
                                      const http::RequestParser& parser);
  boost::asio::awaitable<std::optional<http::Response>> ask(
      const std::shared_ptr<Connection>& connection, const http::Request& request, bool& is_busy);
  boost::asio::awaitable<void> refuse(Connection& connection, const http::RequestParser& parser);
  boost::asio::awaitable<bool> write(Connection& connection, http::Response response,
                                     bool keep_alive, bool with_body);
  void start_stream(Connection& connection, http::Response response);
  void await_end(const StreamPointer& stream);
  void flush(const StreamPointer& stream);
  void publish(http::Channel channel, const http::StreamText& text);
  void list(const StreamPointer& stream);
  void close_later(PeerPointer peer);
  void work_on_lists();
  void drop(const StreamPointer& stream);
  void sweep();
  bool has_room();
  // It is being found out who has too much, or that is being closed.
  bool makes_room() const { return is_sharing_out || !to_close.empty(); }
  // There will be room, now or at the next look at whose connections they are.
  bool expects_room() const { return makes_room() || sharing_helps; }
  void share_out();
  void share_out_later(Peer::Clock::duration pause);
  void close_excess();
  template <typename Visit>
  void for_each_peer(Visit visit) const {
    for (const auto& each : connections) {
      if (!each->closing) visit(PeerPointer(each));
    }
    for (const auto& each : streams) {
      if (!each->closing) visit(PeerPointer(each));
    }
  }
  void make_room_for_answers(const Connection& except);
  void close();

  // However a connection's coroutine ends. A question that nobody waits for any more may keep it.
  struct Leaving {
    State& state;
    const std::shared_ptr<Connection>& connection;
    ~Leaving() {
      state.unsent -= connection->unsent;
      boost::system::error_code error;
      connection->socket.close(error);  // NOLINT(bugprone-unused-return-value)
      state.connections.erase(connection);
    }
  };

  boost::asio::io_context& context;
  HttpServerOptions options;
  Handler handler;
  boost::asio::ip::tcp::acceptor acceptor;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  std::unordered_set<StreamPointer> streams;
  std::deque<StreamPointer> to_flush;
  std::deque<PeerPointer> to_close;
  bool lists_are_due = false;
  bool is_sharing_out = false;
  bool share_is_due = false;  // as soon as the timer has fired
  boost::asio::steady_timer share_timer;
  bool sharing_helps = true;  // the last time it left room, or somebody to be told apart
  PeerOwners owners;          // used elsewhere
  Peer::Clock::time_point shared_out;
  std::uint64_t last_number = 0;
  std::size_t unsent = 0;  // of all connections
  Counts counts;
};

}  // namespace ttmem::serve
