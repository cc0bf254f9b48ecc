// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "loop/worker.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/assert.hpp"

namespace ttmem::loop {

namespace {

constexpr auto kNoMemoryPause = std::chrono::milliseconds(10);

}  // namespace

std::chrono::nanoseconds FairTurns::position(std::string_view owner) const {
  const auto known = ahead_.find(owner);
  return known == ahead_.end() ? now_ : std::max(now_, known->second);
}

void FairTurns::had_turn(std::string_view owner, std::chrono::nanoseconds cost) {
  now_ = position(owner);
  ahead_.insert_or_assign(std::string(owner), now_ + cost);
  std::erase_if(ahead_, [this](const auto& each) { return each.second <= now_; });
}

struct Worker::State {
  struct Waiting {
    Owner owner;
    Piece piece;
  };

  explicit State(Loop& where) : loop(where) {}

  void give_turn();
  Waiting take_next();
  void work(const std::shared_ptr<State>& self);
  void tell_loop(const std::shared_ptr<State>& self, std::chrono::nanoseconds cost);
  void finish(const Done& done, std::chrono::nanoseconds cost);

  Loop& loop;
  // Of the loop.
  std::deque<Piece> own;
  std::deque<Waiting> waiting;
  FairTurns turns;
  std::string owner_at_work;
  bool is_working = false;
  std::chrono::nanoseconds longest{};
  // Of both.
  std::mutex mutex;
  std::condition_variable wake;
  Piece next;  // null: none
  bool ends = false;
  Done result;  // of the thread, until the loop is told
  std::thread thread;
};

Worker::State::Waiting Worker::State::take_next() {
  if (!own.empty()) {
    Piece piece = std::move(own.front());
    own.pop_front();
    return {nullptr, std::move(piece)};
  }
  const auto least = std::ranges::min_element(
      waiting, {}, [this](const Waiting& each) { return turns.position(each.owner()); });
  Waiting taken = std::move(*least);
  waiting.erase(least);
  return taken;
}

void Worker::State::give_turn() {
  if (is_working || (own.empty() && waiting.empty())) return;
  Waiting taken = take_next();
  is_working = true;
  owner_at_work = taken.owner ? taken.owner() : "";
  const std::lock_guard lock(mutex);
  next = std::move(taken.piece);
  wake.notify_one();
}

// The thread.
void Worker::State::work(const std::shared_ptr<State>& self) {
  while (true) {
    Piece piece;
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [this] { return ends || next; });
      if (ends) return;
      piece = std::exchange(next, nullptr);
    }
    const auto begin = thread_time();
    try {
      result = piece();
    } catch (...) {
      result = [problem = std::current_exception()] { std::rethrow_exception(problem); };
    }
    piece = nullptr;
    tell_loop(self, thread_time() - begin);
  }
}

// Without memory for that it tries again: the loop would wait for ever.
void Worker::State::tell_loop(const std::shared_ptr<State>& self, std::chrono::nanoseconds cost) {
  for (bool told = false; !told;) {
    try {
      loop.post([self, cost] { self->finish(std::exchange(self->result, nullptr), cost); });
      told = true;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kNoMemoryPause);
    }
  }
}

void Worker::State::finish(const Done& done, std::chrono::nanoseconds cost) {
  is_working = false;
  if (ends) return;
  longest = std::max(longest, cost);
  if (!owner_at_work.empty()) turns.had_turn(owner_at_work, cost);
  give_turn();
  if (done) done();
}

Worker::Worker(Loop& loop) : state_(std::make_shared<State>(loop)) {
  // Signals are for the loop.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->thread = std::thread([state = state_] { state->work(state); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Worker::~Worker() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
    state_->wake.notify_one();
  }
  state_->thread.join();
  state_->own.clear();
  state_->waiting.clear();
}

void Worker::add(Owner owner, Piece piece) {
  TTMEM_CHECK(owner && piece);
  state_->waiting.push_back({std::move(owner), std::move(piece)});
  state_->give_turn();
}

void Worker::add_own(Piece piece) {
  TTMEM_CHECK(piece != nullptr);
  state_->own.push_back(std::move(piece));
  state_->give_turn();
}

std::size_t Worker::waiting() const { return state_->waiting.size() + state_->own.size(); }
std::chrono::nanoseconds Worker::longest() const { return state_->longest; }

}  // namespace ttmem::loop
