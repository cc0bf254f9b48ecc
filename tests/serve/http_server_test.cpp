// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The server alone: what it says when there is no answer, and who gets a name.
#include "serve/http_server.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "loop/loop.hpp"

namespace ttmem::serve {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;

class HttpServerTest : public testing::Test {
 protected:
  void open(HttpServer::Handler handler) {
    server.emplace(loop, options, std::move(handler));
    ASSERT_FALSE(server->open());
    const std::string address = server->address();
    port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  // Does it in another thread, as long as the loop runs.
  void meanwhile(const std::function<void()>& what) {
    std::thread other([&] {
      what();
      loop.post([&] { loop.stop(); });
    });
    loop.run();
    other.join();
  }
  tcp::socket ask() {
    tcp::socket socket(client);
    socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
    boost::asio::write(
        socket, boost::asio::buffer(std::string("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    return socket;
  }
  // Everything until the server closes.
  static std::string read(tcp::socket& socket) {
    std::string text;
    boost::system::error_code error;
    boost::asio::read(socket, boost::asio::dynamic_buffer(text), error);
    return text;
  }

  loop::Loop loop;
  boost::asio::io_context client;
  HttpServerOptions options{
      .port = 0, .elsewhere = [this](const std::function<std::function<void()>()>& what) {
        loop.post([done = what()] { done(); });
      }};
  std::optional<HttpServer> server;
  std::uint16_t port = 0;
};

TEST_F(HttpServerTest, WhoWaitsTooLongIsToldThatTheDaemonIsBusy) {
  options.answer_time = 10ms;
  HttpServer::Answer late;
  open([&](const http::Request&, const HttpServer::Asker&, HttpServer::Answer answer) {
    late = std::move(answer);
  });
  std::string text;
  meanwhile([&] {
    tcp::socket socket = ask();
    text = read(socket);
  });
  EXPECT_TRUE(text.starts_with("HTTP/1.1 503 ")) << text;
  EXPECT_NE(text.find("ask again"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\nRetry-After: 1\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\nX-Content-Type-Options: "), std::string::npos) << text;
  late(http::json("{}"));  // nobody waits for it
  http::Response stream;
  stream.stream.emplace();
  late(std::move(stream));
  EXPECT_EQ(server->streams(), 0u);
}

// The second comes right after a look at whose connections they are, and nobody comes after it.
TEST_F(HttpServerTest, WhoComesRightAfterALookIsToldApartAtTheNext) {
  std::vector<HttpServer::Asker> askers;
  std::vector<HttpServer::Answer> answers;
  open([&](const http::Request&, const HttpServer::Asker& asker, HttpServer::Answer answer) {
    askers.push_back(asker);
    answers.push_back(std::move(answer));
    server->tell_askers_apart();
  });
  std::function<void()> answer_when_known = [&] {
    bool known = askers.size() == 2;
    for (const HttpServer::Asker& asker : askers) known = known && !asker().empty();
    if (!known) {
      loop.after(1ms, answer_when_known);
      return;
    }
    for (const HttpServer::Answer& answer : answers) answer(http::json("{}"));
  };
  loop.after(1ms, answer_when_known);
  std::array<char, 12> begin{};
  meanwhile([&] {
    tcp::socket first = ask(), second = ask();
    boost::asio::read(second, boost::asio::buffer(begin));
  });
  EXPECT_EQ(std::string(begin.data(), begin.size()), "HTTP/1.1 200");
}

}  // namespace
}  // namespace ttmem::serve
