// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The event loop as the rest of the daemon sees it: descriptors, timers and signals, one thread.
// The library behind it stays in the file that makes one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace ttmem::serve {

class Loop {
 public:
  using Callback = std::function<void()>;
  using TimerId = std::uint64_t;  // never 0

  struct Ready {
    bool readable = false;
    bool writable = false;
  };
  using ReadyCallback = std::function<void(Ready)>;

  virtual ~Loop() = default;

  // Calls back whenever the descriptor is ready for what is wanted, again and again while it stays
  // so; an error or the peer's end counts as both. Watching a descriptor again replaces what was
  // wanted. The descriptor stays the caller's: unwatch it before closing it. Both may be called
  // from within a callback, also the descriptor's own.
  virtual void watch(int descriptor, Ready wanted, ReadyCallback callback) = 0;
  virtual void unwatch(int descriptor) = 0;

  // A timer that fires once, or again and again. Cancelling one that has fired does nothing.
  virtual TimerId after(std::chrono::milliseconds delay, Callback callback) = 0;
  virtual TimerId every(std::chrono::milliseconds period, Callback callback) = 0;
  virtual void cancel(TimerId timer) = 0;

  // Handlers run in the loop, never in the signal's own context.
  virtual void on_signal(int signal, Callback callback) = 0;

  // Runs until stop(), which may be called from any callback.
  virtual void run() = 0;
  virtual void stop() = 0;
};

}  // namespace ttmem::serve
