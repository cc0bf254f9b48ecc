// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A loop of a hundred lines, for tests of what runs on a loop.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "serve/loop.hpp"

namespace ttmem::serve {

class PollLoop final : public Loop {
 public:
  ~PollLoop() override {
    if (signals_ >= 0) ::close(signals_);
  }

  void watch(int descriptor, Ready wanted, ReadyCallback callback) override {
    watched_[descriptor] = {wanted, std::make_shared<ReadyCallback>(std::move(callback))};
  }
  void unwatch(int descriptor) override { watched_.erase(descriptor); }

  TimerId after(std::chrono::milliseconds delay, Callback callback) override {
    return add(delay, std::chrono::milliseconds(0), std::move(callback));
  }
  TimerId every(std::chrono::milliseconds period, Callback callback) override {
    return add(period, period, std::move(callback));
  }
  void cancel(TimerId timer) override { timers_.erase(timer); }

  void on_signal(int signal, Callback callback) override {
    handlers_[signal] = std::move(callback);
    sigset_t set;
    sigemptyset(&set);
    for (const auto& [number, handler] : handlers_) sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    const bool first = signals_ < 0;
    signals_ = ::signalfd(signals_, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (first) watch(signals_, {.readable = true}, [this](Ready) { take_signal(); });
  }

  void run() override {
    while (!stopped_) turn(std::chrono::milliseconds(1000));
  }
  void stop() override { stopped_ = true; }

  // One turn: waits at most so long, calls back whatever is ready.
  void turn(std::chrono::milliseconds longest) {
    std::vector<pollfd> asked;
    for (const auto& [descriptor, entry] : watched_) {
      const int events =
          (entry.wanted.readable ? POLLIN : 0) | (entry.wanted.writable ? POLLOUT : 0);
      asked.push_back({descriptor, static_cast<short>(events), 0});
    }
    ::poll(asked.data(), asked.size(), static_cast<int>(until_next(longest).count()));
    for (const pollfd& each : asked) {
      const auto found = watched_.find(each.fd);
      if (each.revents == 0 || found == watched_.end()) continue;
      const bool failed = (each.revents & (POLLERR | POLLHUP)) != 0;
      const auto callback = found->second.callback;
      (*callback)({.readable = failed || (each.revents & POLLIN) != 0,
                   .writable = failed || (each.revents & POLLOUT) != 0});
    }
    fire();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Ready wanted;
    std::shared_ptr<ReadyCallback> callback;
  };
  struct Timer {
    Clock::time_point due;
    std::chrono::milliseconds period;
    std::shared_ptr<Callback> callback;
  };

  TimerId add(std::chrono::milliseconds delay, std::chrono::milliseconds period,
              Callback callback) {
    timers_[++last_] = {Clock::now() + delay, period,
                        std::make_shared<Callback>(std::move(callback))};
    return last_;
  }
  std::chrono::milliseconds until_next(std::chrono::milliseconds longest) const {
    for (const auto& [id, timer] : timers_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(timer.due - Clock::now());
      longest = std::max(std::chrono::milliseconds(0), std::min(longest, left));
    }
    return longest;
  }
  void fire() {
    const auto now = Clock::now();
    std::vector<TimerId> due;
    for (const auto& [id, timer] : timers_) {
      if (timer.due <= now) due.push_back(id);
    }
    for (const TimerId id : due) {
      const auto found = timers_.find(id);
      if (found == timers_.end()) continue;
      const auto callback = found->second.callback;
      if (found->second.period.count() > 0) {
        found->second.due = now + found->second.period;
      } else {
        timers_.erase(found);
      }
      (*callback)();
    }
  }
  void take_signal() {
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == sizeof info) {
      handlers_[static_cast<int>(info.ssi_signo)]();
    }
  }

  std::map<int, Watched> watched_;
  std::map<TimerId, Timer> timers_;
  std::map<int, Callback> handlers_;
  TimerId last_ = 0;
  int signals_ = -1;
  bool stopped_ = false;
};

}  // namespace ttmem::serve
