// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http_server.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "base/assert.hpp"
#include "serve/http/guard.hpp"
#include "serve/http/request.hpp"
#include "serve/http_server_state.hpp"
#include "serve/peer_user.hpp"

// The library's calls give the error back twice: the argument is the one that is looked at.
// NOLINTBEGIN(bugprone-unused-return-value)

namespace ttmem::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using http::head;
using http::Request;
using http::RequestParser;
using http::Response;
using http::SharedText;
using namespace std::chrono_literals;

namespace {

using Clock = Peer::Clock;

constexpr auto kIdleTime = 60s;  // between two requests
constexpr auto kAnswerTime = 30s;
constexpr auto kLingerTime = 2s;  // for a peer that was refused to read why
constexpr auto kAcceptPause = 100ms;
constexpr auto kRoomPause = 5ms;
constexpr std::size_t kReadBytes = 8 * 1024;
constexpr std::size_t kMostUnsent = 64u << 20;  // answers that wait to be taken, all together

// One that is asked for, and who waits for it.
struct Question {
  asio::steady_timer patience;
  std::optional<Response> answer;
  bool is_over = false;
};

Response busy() {
  Response response = http::error(503, "the daemon is busy: ask again in a moment");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

// ---- listening ---------------------------------------------------------------------------------

std::optional<HttpServer::Problem> HttpServer::State::open() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    options.most_connections = std::min<std::size_t>(options.most_connections, limit.rlim_cur / 4);
  }
  error_code error;
  if (options.inherited >= 0) {
    int family = AF_INET;
    socklen_t size = sizeof family;
    ::getsockopt(options.inherited, SOL_SOCKET, SO_DOMAIN, &family, &size);
    acceptor.assign(family == AF_INET6 ? tcp::v6() : tcp::v4(), options.inherited, error);
    if (error) return Problem{"the socket that was handed over cannot be used: " + error.message()};
    return std::nullopt;
  }
  const std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  const auto address = asio::ip::make_address(host, error);
  if (error) {
    return Problem{fmt::format("{} is no address: give one such as 127.0.0.1:7171", options.host)};
  }
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1024, error);
  if (!error) return std::nullopt;
  return Problem{
      fmt::format("cannot listen on {}:{}: {}", options.host, options.port, error.message()),
      error == asio::error::address_in_use};
}

asio::awaitable<void> HttpServer::State::accept() {
  const auto self = shared_from_this();
  asio::steady_timer pause(context);
  while (acceptor.is_open()) {
    bool failed = false;
    try {
      failed = !co_await accept_one(pause);
    } catch (const std::exception&) {  // no memory, say; nobody else would take the next
      failed = true;
    }
    if (!failed) continue;
    error_code error;
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

// False: most likely there is no descriptor left, and others go on meanwhile.
asio::awaitable<bool> HttpServer::State::accept_one(asio::steady_timer& pause) {
  error_code error;
  tcp::socket socket =
      co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return error == asio::error::operation_aborted;
  socket.non_blocking(true, error);
  socket.set_option(tcp::no_delay(true), error);
  while (!has_room() && expects_room()) {
    pause.expires_after(kRoomPause);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
  if (!has_room()) {
    ++counts.refused;
    Response full = http::error(503, "too many connections: try again later");
    http::add_security_headers(full);
    const std::string text = head(full, false) + full.start;
    socket.write_some(asio::buffer(text), error);
    co_return true;
  }
  auto connection = std::make_shared<Connection>(
      Connection{{.socket = std::move(socket), .number = ++last_number, .owner = ""}});
  asio::co_spawn(context, serve(connection), asio::detached);
  connections.insert(std::move(connection));  // afterwards: what is served is taken out in the end
  co_return true;
}

// ---- requests and answers ----------------------------------------------------------------------

asio::awaitable<void> HttpServer::State::serve(std::shared_ptr<Connection> connection) {
  const auto self = shared_from_this();
  const Leaving leaving{*this, connection};
  const auto parser = std::make_unique<RequestParser>();
  const auto bytes = std::make_unique<std::array<char, kReadBytes>>();
  auto state = RequestParser::State::kMore;
  bool goes_on = true;
  while (goes_on) {
    while (state == RequestParser::State::kMore) {
      error_code error;
      const bool begun = parser->has_begun();
      const std::size_t count = co_await connection->socket.async_read_some(
          asio::buffer(*bytes), asio::redirect_error(asio::use_awaitable, error));
      if (error || count == 0) break;
      if (!begun) connection->deadline = Clock::now() + Connection::kRequestTime;
      state = parser->feed({bytes->data(), count});
    }
    if (state == RequestParser::State::kMore) break;
    if (state == RequestParser::State::kBad) {
      co_await refuse(*connection, *parser);
      break;
    }
    goes_on = co_await answer(connection, *parser);
    connection->deadline = Clock::now() + kIdleTime;
    if (goes_on) state = parser->next();
  }
}

asio::awaitable<bool> HttpServer::State::answer(const std::shared_ptr<Connection>& connection,
                                                const RequestParser& parser) {
  ++counts.requests;
  Request request = parser.request();
  error_code error;
  const tcp::endpoint peer = connection->socket.remote_endpoint(error);
  request.from_loopback = !error && peer.address().is_loopback();
  if (!connection->user && !error) {
    const PeerEnds ends{peer, connection->socket.local_endpoint(error)};
    connection->user.emplace(error ? std::nullopt : peer_user(ends_of(ends)));
  }
  if (connection->user) request.user = *connection->user;
  bool is_busy = false;
  std::optional<Response> response = co_await ask(connection, request, is_busy);
  if (!response) co_return false;
  const bool keep = request.keep_alive && !response->stream && !is_busy;
  const bool written = co_await write(*connection, std::move(*response), keep, !request.is_head());
  co_return written&& keep;
}

// Others are served until the answer is there. A stream begins in the moment that it is given, not
// when this goes on: what is published in between is for it too. Then there is no answer. Whoever
// has waited too long is told so, and what comes after that is for nobody.
asio::awaitable<std::optional<Response>> HttpServer::State::ask(
    const std::shared_ptr<Connection>& connection, const Request& request, bool& is_busy) {
  const auto question = std::make_shared<Question>(Question{asio::steady_timer(context), {}});
  question->patience.expires_after(options.answer_time);
  connection->deadline = Clock::time_point::max();
  handler(
      request, [connection] { return std::string_view(connection->owner); },
      [self = shared_from_this(), connection, question,
       is_head = request.is_head()](Response response) {
        if (std::exchange(question->is_over, true)) return;
        if (response.stream && !is_head) {
          self->start_stream(*connection, std::move(response));
        } else {
          question->answer = std::move(response);
        }
        question->patience.cancel();
      });
  error_code error;
  if (!question->is_over) {
    co_await question->patience.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
  is_busy = !std::exchange(question->is_over, true);
  if (is_busy) {
    ++counts.too_slow;
    co_return busy();
  }
  co_return std::exchange(question->answer, std::nullopt);
}

asio::awaitable<void> HttpServer::State::refuse(Connection& connection,
                                                const RequestParser& parser) {
  ++counts.bad;
  Response response = http::error(parser.status(), parser.problem());
  const bool written = co_await write(connection, std::move(response), false, true);
  if (!written) co_return;
  // What it still sends is read and dropped for a moment, or it would not see the answer.
  error_code error;
  connection.socket.shutdown(tcp::socket::shutdown_send, error);
  connection.deadline = Clock::now() + kLingerTime;
  const auto bytes = std::make_unique<std::array<char, kReadBytes>>();
  while (!error) {
    co_await connection.socket.async_read_some(asio::buffer(*bytes),
                                               asio::redirect_error(asio::use_awaitable, error));
  }
}

asio::awaitable<bool> HttpServer::State::write(Connection& connection, Response response,
                                               bool keep_alive, bool with_body) {
  connection.deadline = Clock::now() + kAnswerTime;
  http::add_security_headers(response);
  const std::string first = head(response, keep_alive);
  std::vector<asio::const_buffer> parts;
  parts.push_back(asio::buffer(first));
  if (with_body) {
    parts.push_back(asio::buffer(response.start));
    for (const SharedText& part : response.rest) parts.push_back(asio::buffer(*part));
  }
  connection.unsent = response.start.size();
  unsent += connection.unsent;
  if (unsent > kMostUnsent) make_room_for_answers(connection);
  error_code error;
  co_await asio::async_write(connection.socket, parts,
                             asio::redirect_error(asio::use_awaitable, error));
  unsent -= std::exchange(connection.unsent, 0);
  co_return !error;
}

// Those that take their answers slowest are given up first.
void HttpServer::State::make_room_for_answers(const Connection& except) {
  while (unsent > kMostUnsent) {
    Connection* slowest = nullptr;
    for (const auto& each : connections) {
      if (each.get() == &except || each->unsent == 0) continue;
      if (slowest == nullptr || each->deadline < slowest->deadline) slowest = each.get();
    }
    if (slowest == nullptr) return;
    ++counts.too_slow;
    unsent -= std::exchange(slowest->unsent, 0);
    error_code error;
    slowest->socket.close(error);  // its coroutine finds out and ends
  }
}

// ---- the rest ----------------------------------------------------------------------------------

void HttpServer::State::close() {
  error_code error;
  acceptor.close(error);
  share_timer.cancel();
  for (const auto& connection : connections) connection->socket.close(error);
  for (const auto& stream : streams) stream->socket.close(error);
  streams.clear();
}

HttpServer::HttpServer(loop::Loop& loop, HttpServerOptions options, Handler handler)
    : loop_(loop),
      state_(std::make_shared<State>(loop.context(), std::move(options), std::move(handler))) {
  TTMEM_CHECK(state_->handler != nullptr);
}

HttpServer::~HttpServer() {
  if (sweep_timer_ != 0) loop_.cancel(sweep_timer_);
  state_->close();
  state_->handler = nullptr;
}

std::optional<HttpServer::Problem> HttpServer::open() {
  if (auto problem = state_->open()) return problem;
  asio::co_spawn(state_->context, state_->accept(), asio::detached);
  sweep_timer_ = loop_.every(1s, [this] { state_->sweep(); });
  return std::nullopt;
}

std::string HttpServer::address() const {
  error_code error;
  const tcp::endpoint endpoint = state_->acceptor.local_endpoint(error);
  const std::string host = endpoint.address().to_string();
  if (endpoint.address().is_v6()) return fmt::format("[{}]:{}", host, endpoint.port());
  return fmt::format("{}:{}", host, endpoint.port());
}

void HttpServer::publish(http::Channel channel, const http::StreamText& text) {
  state_->publish(channel, text);
}

void HttpServer::tell_askers_apart() { state_->share_out(); }

std::size_t HttpServer::streams() const { return state_->streams.size(); }
std::size_t HttpServer::connections() const {
  return state_->connections.size() + state_->streams.size();
}
const HttpServer::Counts& HttpServer::counts() const { return state_->counts; }

}  // namespace ttmem::serve

// NOLINTEND(bugprone-unused-return-value)
