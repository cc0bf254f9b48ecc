// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "loop/worker.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace ttmem::loop {
namespace {

using namespace std::chrono_literals;

Worker::Owner owned_by(std::string name) {
  return [name = std::move(name)] { return std::string_view(name); };
}

TEST(Worker, WorksInAnotherThreadAndTellsInTheLoop) {
  Loop loop;
  Worker worker(loop);
  const auto here = std::this_thread::get_id();
  std::thread::id worked, told;
  worker.add(owned_by("a"), [&]() -> Worker::Done {
    worked = std::this_thread::get_id();
    return [&] {
      told = std::this_thread::get_id();
      loop.stop();
    };
  });
  loop.run();
  EXPECT_NE(worked, here);
  EXPECT_EQ(told, here);
}

TEST(Worker, WhatAPieceThrowsIsThrownInTheLoop) {
  Loop loop;
  Worker worker(loop);
  worker.add_own([]() -> Worker::Done { throw std::runtime_error("no memory"); });
  EXPECT_THROW(loop.run(), std::runtime_error);
}

// Works for so long of the processor's time.
void work_for(std::chrono::nanoseconds time) {
  for (const auto begin = thread_time(); thread_time() - begin < time;) {
  }
}

TEST(Worker, OneWhoAsksALotDoesNotMakeOthersWaitForAllOfIt) {
  Loop loop;
  Worker worker(loop);
  std::string order;
  const auto ask = [&](const char* owner, std::chrono::nanoseconds cost) {
    worker.add(owned_by(owner), [&order, &loop, owner, cost]() -> Worker::Done {
      work_for(cost);
      return [&order, &loop, owner] {
        order += owner;
        if (order.size() == 13) loop.stop();
      };
    });
  };
  for (int i = 0; i < 10; ++i) ask("a", 10ms);
  for (int i = 0; i < 3; ++i) ask("b", 1ms);
  loop.run();
  // Both begin alike; then "b" has its cheap pieces before the second of "a". A machine that stands
  // still within one of them may make it dear, but not as dear as all of "a".
  EXPECT_EQ(order.back(), 'a') << order;
}

TEST(Worker, ThePiecesOfTheProgramComeFirstAndAnOwnerMayBecomeKnownLater) {
  Loop loop;
  Worker worker(loop);
  std::string order, name;
  const auto piece = [&](char sign) {
    return [&, sign]() -> Worker::Done {
      work_for(1ms);
      return [&, sign] {
        order += sign;
        if (sign == '1') name = "busy";  // and so behind the other
        if (order.size() == 5) loop.stop();
      };
    };
  };
  worker.add(owned_by("busy"), piece('1'));
  worker.add([&] { return std::string_view(name); }, piece('4'));
  worker.add(owned_by("idle"), piece('3'));
  worker.add_own(piece('2'));
  worker.add_own(piece('x'));
  loop.run();
  EXPECT_EQ(order, "12x34");
}

TEST(Worker, WhatWaitsIsDroppedAtTheEnd) {
  Loop loop;
  bool done = false;
  {
    Worker worker(loop);
    worker.add_own([]() -> Worker::Done {
      work_for(5ms);
      return nullptr;
    });
    worker.add_own([&]() -> Worker::Done {
      done = true;
      return nullptr;
    });
  }
  EXPECT_FALSE(done);
}

TEST(FairTurns, WhoeverComesBackHasNothingInStore) {
  FairTurns turns;
  for (int i = 0; i < 10; ++i) turns.had_turn("a", 1ms);
  EXPECT_EQ(turns.position("b"), turns.position("c"));
  EXPECT_LT(turns.position("b"), turns.position("a"));
  turns.had_turn("b", 5ms);
  EXPECT_LT(turns.position("a"), turns.position("b")) << "b had more at once than is a's due";
}

}  // namespace
}  // namespace ttmem::loop
