// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "loop/loop.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/assert.hpp"
#include "base/file_descriptor.hpp"

namespace ttmem::loop {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

std::chrono::nanoseconds clock_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr auto kReadyTurn = std::chrono::milliseconds(5);

// A signal that waits to be read: the system keeps it until that was done, so none is lost, as it
// would be if a handler had to write into a pipe that takes nothing.
class HeldSignal {
 public:
  explicit HeldSignal(int signal) {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, signal);
    file_.reset(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!file_) return;  // it acts as usual then, which is better than not to hear it
    sigset_t before;
    ::pthread_sigmask(SIG_BLOCK, &set_, &before);
    is_held_ = ::sigismember(&before, signal) == 0;
  }
  ~HeldSignal() {
    while (take()) {
    }
    if (is_held_) ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
  }
  HeldSignal(const HeldSignal&) = delete;
  HeldSignal& operator=(const HeldSignal&) = delete;

  int descriptor() const { return file_.get(); }
  // Whether one had come; it is gone then.
  bool take() const {
    signalfd_siginfo which{};
    return file_ && ::read(file_.get(), &which, sizeof which) == sizeof which;
  }

 private:
  sigset_t set_{};
  bool is_held_ = false;  // by us
  FileDescriptor file_;
};

}  // namespace

std::chrono::nanoseconds thread_time() { return clock_of(CLOCK_THREAD_CPUTIME_ID); }

struct Loop::State {
  struct Timer {
    asio::steady_timer timer;
    std::chrono::milliseconds period;  // 0 = once
    Callback callback;
  };

  State() { await_ready(); }

  TimerId add(std::chrono::milliseconds delay, std::chrono::milliseconds period,
              Callback callback) {
    TTMEM_CHECK(callback != nullptr);
    const TimerId id = ++last_timer;
    timers[id] = std::make_shared<Timer>(
        Timer{asio::steady_timer(context, delay), period, std::move(callback)});
    await(id);
    return id;
  }

  void await(TimerId id) {
    timers.at(id)->timer.async_wait([this, id](const error_code& error) {
      const auto found = timers.find(id);
      if (error || found == timers.end()) return;
      // Kept alive over its own callback, which may cancel it.
      const std::shared_ptr<Timer> timer = found->second;
      if (timer->period.count() > 0) {
        timer->timer.expires_after(timer->period);
        await(id);
      } else {
        timers.erase(found);
      }
      timed([&] { timer->callback(); });
    });
  }

  void await_ready() {
    ready.async_wait(asio::posix::stream_descriptor::wait_read, [this](const error_code& error) {
      if (error) return;
      call_ready();
      await_ready();
    });
  }

  // Only few at a time, and for a few milliseconds: timers and HTTP have their turns in between.
  // The system lists the others first the next time.
  void call_ready() {
    std::array<epoll_event, 16> events;
    const auto until = clock_of(CLOCK_MONOTONIC) + kReadyTurn;
    int count = 0;
    do {
      count = ::epoll_wait(ready.native_handle(), events.data(), events.size(), 0);
      call_each(events, count);
    } while (count == static_cast<int>(events.size()) && clock_of(CLOCK_MONOTONIC) < until);
  }

  void call_each(const std::array<epoll_event, 16>& events, int count) {
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const auto found = watched.find(event.data.fd);
      if (found == watched.end()) continue;  // unwatched by an earlier callback of this turn
      // Kept alive over its own call, which may unwatch the descriptor.
      const std::shared_ptr<ReadyCallback> callback = found->second;
      const bool failed = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
      timed([&] {
        (*callback)({.readable = failed || (event.events & EPOLLIN) != 0,
                     .writable = failed || (event.events & EPOLLOUT) != 0});
      });
    }
  }

  template <typename Call>
  void timed(Call call) {
    const auto begin = clock_of(CLOCK_MONOTONIC);
    call();
    longest.wall = std::max(longest.wall, clock_of(CLOCK_MONOTONIC) - begin);
  }

  // What HTTP does comes from the library itself: of that only the time on a core is known.
  void run() {
    auto before = thread_time();
    while (context.run_one() > 0) {
      const auto now = thread_time();
      longest.cpu = std::max(longest.cpu, now - before);
      before = now;
    }
  }

  asio::io_context context{1};
  asio::posix::stream_descriptor ready{context, ::epoll_create1(EPOLL_CLOEXEC)};
  std::unordered_map<int, std::shared_ptr<ReadyCallback>> watched;
  std::map<TimerId, std::shared_ptr<Timer>> timers;
  std::map<int, HeldSignal> signals;
  TimerId last_timer = 0;
  Pauses longest;
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

void Loop::watch(int descriptor, Ready wanted, ReadyCallback callback) {
  TTMEM_CHECK(descriptor >= 0 && callback);
  epoll_event event{};
  event.events = (wanted.readable ? EPOLLIN : 0u) | (wanted.writable ? EPOLLOUT : 0u);
  event.data.fd = descriptor;
  const bool known = state_->watched.contains(descriptor);
  state_->watched[descriptor] = std::make_shared<ReadyCallback>(std::move(callback));
  ::epoll_ctl(state_->ready.native_handle(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor,
              &event);
}

void Loop::unwatch(int descriptor) {
  if (state_->watched.erase(descriptor) == 0) return;
  ::epoll_ctl(state_->ready.native_handle(), EPOLL_CTL_DEL, descriptor, nullptr);
}

Loop::TimerId Loop::after(std::chrono::milliseconds delay, Callback callback) {
  return state_->add(delay, std::chrono::milliseconds(0), std::move(callback));
}

Loop::TimerId Loop::every(std::chrono::milliseconds period, Callback callback) {
  // 0 would mean once.
  return state_->add(period, std::max(period, std::chrono::milliseconds(1)), std::move(callback));
}

void Loop::cancel(TimerId timer) { state_->timers.erase(timer); }

void Loop::on_signal(int signal, Callback callback) {
  TTMEM_CHECK(callback != nullptr);
  const HeldSignal& held = state_->signals.try_emplace(signal, signal).first->second;
  if (held.descriptor() < 0) return;
  watch(held.descriptor(), {.readable = true}, [&held, callback = std::move(callback)](Ready) {
    if (held.take()) callback();
  });
}

void Loop::post(Callback callback) {
  asio::post(state_->context, [state = state_.get(), callback = std::move(callback)] {
    state->timed([&] { callback(); });
  });
}

void Loop::run() {
  // A loop that was stopped can run again.
  state_->context.restart();
  state_->run();
}

void Loop::stop() { state_->context.stop(); }

Loop::Pauses Loop::longest() const {
  Pauses longest = state_->longest;
  longest.wall = std::max(longest.wall, longest.cpu);
  return longest;
}

boost::asio::io_context& Loop::context() { return state_->context; }

}  // namespace ttmem::loop
