// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every allocation of a server that is asked fails once, one after the other, until none is left.
// Whatever fails, the server ends with a word or answers whoever comes next.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "base/file_descriptor.hpp"
#include "faults/failing_calls.hpp"
#include "loop/loop.hpp"
#include "serve/http_server.hpp"

namespace ttmem::faults {
namespace {

using serve::HttpServer;

constexpr std::uint64_t kTooMany = 10'000;  // calls: the loop would never end
constexpr std::string_view kRequest =
    "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

// In a thread of its own, until it is gone.
class Server {
 public:
  Server() {
    server_ = std::make_unique<HttpServer>(
        loop_,
        serve::HttpServerOptions{.port = 0, .elsewhere = [](const auto& piece) { piece()(); }},
        [](const serve::http::Request&, const HttpServer::Asker&, HttpServer::Answer answer) {
          answer(serve::http::json("{}\n"));
        });
    EXPECT_FALSE(server_->open());
    const std::string address = server_->address();
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    thread_ = std::thread([this] {
      try {
        loop_.run();
      } catch (const std::exception&) {
        ended_ = true;  // as the daemon does, which says why
      }
    });
  }
  ~Server() {
    if (!ended_) loop_.post([this] { loop_.stop(); });
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  bool has_ended() const { return ended_; }
  // No call in here allocates.
  bool answers() const {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{.tv_sec = 2, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char first = 0;
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
               0 &&
           ::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(kRequest.size()) &&
           ::recv(socket.get(), &first, 1, 0) == 1;
  }

 private:
  loop::Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

TEST(ServerFailures, AnswersWhoeverComesNext) {
  auto server = std::make_unique<Server>();
  ASSERT_TRUE(server->answers());
  std::uint64_t number = 0;
  bool failed = true;
  while (failed && number < kTooMany) {
    fail_at(++number);
    server->answers();
    failed = stop_failing() >= number;
    if (server->has_ended()) server = std::make_unique<Server>();
    ASSERT_TRUE(server->answers()) << "after call " << number;
  }
  EXPECT_GT(number, 10u);
  EXPECT_LT(number, kTooMany);
}

}  // namespace
}  // namespace ttmem::faults
