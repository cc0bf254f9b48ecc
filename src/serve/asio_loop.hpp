// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The daemon's loop, on Boost.Asio. Descriptors that others own are watched through an epoll set of
// our own, which Asio watches: Asio itself would make them non-blocking, also a terminal that is
// shared with a shell.
#pragma once

#include <memory>

#include "serve/loop.hpp"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): the library's own
}

namespace ttmem::serve {

class AsioLoop final : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;  // signals that were handled here act as usual again
  AsioLoop(const AsioLoop&) = delete;
  AsioLoop& operator=(const AsioLoop&) = delete;

  void watch(int descriptor, Ready wanted, ReadyCallback callback) override;
  void unwatch(int descriptor) override;
  TimerId after(std::chrono::milliseconds delay, Callback callback) override;
  TimerId every(std::chrono::milliseconds period, Callback callback) override;
  void cancel(TimerId timer) override;
  void on_signal(int signal, Callback callback) override;
  void run() override;
  void stop() override;

  // For the few files that use the library themselves.
  boost::asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::serve
