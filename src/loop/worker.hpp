// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What takes longer than a turn of a loop may: a thread of its own does it, one piece after the
// other, and what follows from it happens in the loop again. Pieces have owners, and turns are
// fair: next comes a piece of whoever had the least of the thread's time.
//
//   worker.add([connection] { return connection->owner; }, [] {
//     std::string text = long_story();                      // in the thread
//     return [text = std::move(text)] { tell(text); };      // in the loop
//   });
//
// Everything that a piece touches is left alone by the loop. All calls are made in the loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "loop/loop.hpp"

namespace ttmem::loop {

// Fairness by time: who had the least is next. Whoever comes, or comes back after a pause, is where
// the others are and has nothing in store.
class FairTurns {
 public:
  // How far this owner is; the least is next.
  std::chrono::nanoseconds position(std::string_view owner) const;
  // It had a turn that took so long.
  void had_turn(std::string_view owner, std::chrono::nanoseconds cost);

 private:
  std::map<std::string, std::chrono::nanoseconds, std::less<>> ahead_;  // of those who are
  std::chrono::nanoseconds now_{};                                      // where everybody else is
};

class Worker {
 public:
  // Called in the loop. What a piece throws is thrown there instead.
  using Done = std::function<void()>;
  // Done by the thread.
  using Piece = std::function<Done()>;
  // Whose it is, asked each time that a turn is given: it may become known while the piece waits.
  using Owner = std::function<std::string_view()>;

  // The loop outlives it.
  explicit Worker(Loop& loop);
  // Waits for the piece that is being done; the others are dropped.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(Owner owner, Piece piece);
  // Before those of all owners, after others of this kind: for what the program itself has to do.
  void add_own(Piece piece);
  std::size_t waiting() const;

  // The most time on a core that one piece took.
  std::chrono::nanoseconds longest() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ttmem::loop
