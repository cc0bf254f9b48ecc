// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/epoll_loop.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace ttmem::serve {

EpollLoop::EpollLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  sigemptyset(&held_);
  pthread_sigmask(SIG_BLOCK, nullptr, &before_);
}

EpollLoop::~EpollLoop() {
  if (signals_ >= 0) ::close(signals_);
  ::close(epoll_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// ---- descriptors -------------------------------------------------------------------------------

void EpollLoop::watch(int descriptor, Ready wanted, ReadyCallback callback) {
  epoll_event event{};
  event.events = (wanted.readable ? EPOLLIN : 0u) | (wanted.writable ? EPOLLOUT : 0u);
  event.data.fd = descriptor;
  const bool known = watched_.contains(descriptor);
  watched_[descriptor] = std::make_shared<ReadyCallback>(std::move(callback));
  ::epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
}

void EpollLoop::unwatch(int descriptor) {
  if (watched_.erase(descriptor) > 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void EpollLoop::turn(std::chrono::milliseconds longest) {
  std::array<epoll_event, 256> events;
  const int count = ::epoll_wait(epoll_, events.data(), events.size(), until_next(longest));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto found = watched_.find(event.data.fd);
    if (found == watched_.end()) continue;  // unwatched by an earlier callback of this turn
    const std::shared_ptr<ReadyCallback> callback = found->second;
    const bool failed = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    (*callback)({.readable = failed || (event.events & EPOLLIN) != 0,
                 .writable = failed || (event.events & EPOLLOUT) != 0});
  }
  fire();
}

void EpollLoop::run() {
  stopped_ = false;
  while (!stopped_) turn(std::chrono::hours(1));
}

// ---- timers ------------------------------------------------------------------------------------

Loop::TimerId EpollLoop::after(std::chrono::milliseconds delay, Callback callback) {
  return add(delay, std::chrono::milliseconds(0), std::move(callback));
}

Loop::TimerId EpollLoop::every(std::chrono::milliseconds period, Callback callback) {
  return add(period, std::max(period, std::chrono::milliseconds(1)), std::move(callback));
}

Loop::TimerId EpollLoop::add(std::chrono::milliseconds delay, std::chrono::milliseconds period,
                             Callback callback) {
  const TimerId id = ++last_timer_;
  const Clock::time_point due = Clock::now() + delay;
  timers_[id] = {due, period, std::make_shared<Callback>(std::move(callback))};
  due_.emplace(due, id);
  return id;
}

void EpollLoop::cancel(TimerId timer) {
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  due_.erase({found->second.due, timer});
  timers_.erase(found);
}

int EpollLoop::until_next(std::chrono::milliseconds longest) const {
  if (due_.empty()) return static_cast<int>(longest.count());
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(due_.begin()->first - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest).count());
}

void EpollLoop::fire() {
  const Clock::time_point now = Clock::now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const TimerId id = due_.begin()->second;
    due_.erase(due_.begin());
    Timer& timer = timers_.at(id);
    const std::shared_ptr<Callback> callback = timer.callback;
    if (timer.period.count() > 0) {
      timer.due = now + timer.period;
      due_.emplace(timer.due, id);
    } else {
      timers_.erase(id);
    }
    (*callback)();
  }
}

// ---- signals -----------------------------------------------------------------------------------

void EpollLoop::on_signal(int signal, Callback callback) {
  handlers_[signal] = std::move(callback);
  sigaddset(&held_, signal);
  pthread_sigmask(SIG_BLOCK, &held_, nullptr);
  const bool first = signals_ < 0;
  signals_ = ::signalfd(signals_, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (first) watch(signals_, {.readable = true}, [this](Ready) { take_signals(); });
}

void EpollLoop::take_signals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == sizeof info) {
    const auto found = handlers_.find(static_cast<int>(info.ssi_signo));
    if (found != handlers_.end()) found->second();
  }
}

}  // namespace ttmem::serve
