// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/source.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/file_descriptor.hpp"

namespace ttmem::top {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::milliseconds(200);

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

// Outlives the source when its thread hangs in a read.
struct Source::Shared {
  explicit Shared(Read what) : read(std::move(what)) {}

  void run();
  void publish(std::shared_ptr<Frame> frame);
  std::shared_ptr<Frame> blank();

  const Read read;
  const FileDescriptor arrivals{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  mutable std::mutex mutex;
  std::condition_variable changed;
  Request request;
  double interval_s = 1;
  bool paused = false, stopping = false, ended = false, asked = true;
  std::shared_ptr<Frame> newest, taken;
  std::optional<Clock::time_point> finished;
};

// A frame that nobody looks at any more keeps its memory for the next one.
std::shared_ptr<Frame> Source::Shared::blank() {
  const std::scoped_lock lock(mutex);
  if (taken && taken.use_count() == 1) return std::exchange(taken, nullptr);
  return std::make_shared<Frame>();
}

void Source::Shared::publish(std::shared_ptr<Frame> frame) {
  const std::scoped_lock lock(mutex);
  newest = std::move(frame);
  finished = Clock::now();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(arrivals.get(), &one, sizeof one);
}

void Source::Shared::run() {
  Budget budget(Clock::now());
  std::unique_lock lock(mutex);
  while (!stopping) {
    const Request wanted = request;
    const double wanted_interval_s = interval_s;
    asked = false;
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    const std::chrono::nanoseconds cpu_before = cpu_time();
    std::shared_ptr<Frame> frame = blank();
    read(wanted, *frame);
    const Budget::Seconds pause = budget.rest(begin, Clock::now(), cpu_time() - cpu_before,
                                              Budget::Seconds(wanted_interval_s));
    publish(std::move(frame));
    lock.lock();
    const auto due = [this] { return stopping || asked; };
    changed.wait_for(lock, pause, due);
    if (paused) changed.wait(lock, [this] { return stopping || asked || !paused; });
  }
  ended = true;
  changed.notify_all();
}

Source::Source(Read read) : shared_(std::make_shared<Shared>(std::move(read))) {
  // Signals are for the thread that owns the terminal.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([shared = shared_] { shared->run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Source::~Source() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, kPatience, [this] { return shared_->ended; });
}

void Source::want(const Request& request, double interval_s, bool paused) {
  const std::scoped_lock lock(shared_->mutex);
  const bool sooner = interval_s < shared_->interval_s;
  shared_->asked = shared_->asked || request != shared_->request || sooner;
  shared_->request = request;
  shared_->interval_s = interval_s;
  shared_->paused = paused;
  shared_->changed.notify_all();
}

std::shared_ptr<const Frame> Source::take() {
  const std::scoped_lock lock(shared_->mutex);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(shared_->arrivals.get(), &count, sizeof count);
  if (!shared_->newest) return nullptr;
  shared_->taken = std::exchange(shared_->newest, nullptr);
  return shared_->taken;
}

int Source::descriptor() const { return shared_->arrivals.get(); }

double Source::age_s() const {
  const std::scoped_lock lock(shared_->mutex);
  if (!shared_->finished) return 0;
  return std::chrono::duration<double>(Clock::now() - *shared_->finished).count();
}

}  // namespace ttmem::top
