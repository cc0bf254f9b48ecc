// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The event loop of one thread: descriptors, timers and signals. Boost.Asio is behind it and stays
// in the source; descriptors that others own are watched through an epoll set of our own, which
// Asio watches, because Asio itself would make them non-blocking, also a terminal that is shared
// with a shell.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): the library's own
}

namespace ttmem::loop {

// The time that this thread has had on a core.
std::chrono::nanoseconds thread_time();

class Loop {
 public:
  using Callback = std::function<void()>;
  using TimerId = std::uint64_t;  // never 0

  struct Ready {
    bool readable = false;
    bool writable = false;
    friend bool operator==(const Ready&, const Ready&) = default;
  };
  using ReadyCallback = std::function<void(Ready)>;

  Loop();
  ~Loop();  // signals that were handled here act as usual again
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Calls back whenever the descriptor is ready for what is wanted, again and again while it stays
  // so; an error or the peer's end counts as both. Watching a descriptor again replaces what was
  // wanted. The descriptor stays the caller's: unwatch it before closing it. Both may be called
  // from within a callback, also the descriptor's own.
  void watch(int descriptor, Ready wanted, ReadyCallback callback);
  void unwatch(int descriptor);

  // A timer that fires once, or again and again. Cancelling one that has fired does nothing.
  TimerId after(std::chrono::milliseconds delay, Callback callback);
  TimerId every(std::chrono::milliseconds period, Callback callback);
  void cancel(TimerId timer);

  // Handlers run in the loop, never in the signal's own context. Other threads must block the
  // signal, or be started later.
  void on_signal(int signal, Callback callback);

  // Calls back in the loop, after what was posted before. The only call for other threads.
  void post(Callback callback);

  // Runs until stop(), which may be called from any callback.
  void run();
  void stop();

  // The longest time that the loop spent on one thing, since it began to run: nobody else was
  // served meanwhile. `cpu` is that of its thread, which a busy machine does not make longer.
  struct Pauses {
    std::chrono::nanoseconds wall{}, cpu{};
  };
  Pauses longest() const;

  // For the few files that use the library themselves.
  boost::asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::loop
