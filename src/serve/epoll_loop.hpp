// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A loop on the kernel's own calls, for a server that needs nothing else: epoll for descriptors,
// signalfd for signals, a sorted list of timers.
#pragma once

#include <signal.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "serve/loop.hpp"

namespace ttmem::serve {

class EpollLoop final : public Loop {
 public:
  EpollLoop();
  ~EpollLoop() override;  // signals that were handled here come through again
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;

  void watch(int descriptor, Ready wanted, ReadyCallback callback) override;
  void unwatch(int descriptor) override;
  TimerId after(std::chrono::milliseconds delay, Callback callback) override;
  TimerId every(std::chrono::milliseconds period, Callback callback) override;
  void cancel(TimerId timer) override;
  void on_signal(int signal, Callback callback) override;
  void run() override;
  void stop() override { stopped_ = true; }

  // One turn: waits at most so long, then calls back what is ready.
  void turn(std::chrono::milliseconds longest);

 private:
  using Clock = std::chrono::steady_clock;
  struct Timer {
    Clock::time_point due;
    std::chrono::milliseconds period;  // 0 = once
    std::shared_ptr<Callback> callback;
  };
  TimerId add(std::chrono::milliseconds delay, std::chrono::milliseconds period, Callback callback);
  int until_next(std::chrono::milliseconds longest) const;
  void fire();
  void take_signals();

  int epoll_ = -1;
  int signals_ = -1;
  sigset_t held_;    // signals that are handled here
  sigset_t before_;  // what was blocked when the loop was made
  std::unordered_map<int, std::shared_ptr<ReadyCallback>> watched_;
  std::map<TimerId, Timer> timers_;
  std::set<std::pair<Clock::time_point, TimerId>> due_;
  std::map<int, Callback> handlers_;
  TimerId last_timer_ = 0;
  bool stopped_ = false;
};

}  // namespace ttmem::serve
