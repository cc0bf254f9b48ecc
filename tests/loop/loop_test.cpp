// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "loop/loop.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/file_descriptor.hpp"

namespace ttmem::loop {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) std::abort();
    out.reset(ends[0]);
    in.reset(ends[1]);
  }
  void put(char c) const { EXPECT_EQ(::write(in.get(), &c, 1), 1); }
  char take() const {
    char c = 0;
    EXPECT_EQ(::read(out.get(), &c, 1), 1);
    return c;
  }
  FileDescriptor out, in;
};

// A test that waits for what never comes ends, and fails.
void end_after_a_minute(Loop& loop) {
  loop.after(60s, [&loop] {
    ADD_FAILURE() << "nothing happened";
    loop.stop();
  });
}

TEST(Loop, CallsBackWhileThereIsSomethingToRead) {
  Loop loop;
  end_after_a_minute(loop);
  const Pipe pipe;
  std::string got;
  for (const char c : {'a', 'b'}) pipe.put(c);
  loop.watch(pipe.out.get(), {.readable = true}, [&](Loop::Ready ready) {
    EXPECT_TRUE(ready.readable);
    got += pipe.take();
    if (got.size() == 2) loop.stop();
  });
  loop.run();
  EXPECT_EQ(got, "ab");
}

TEST(Loop, TheOtherSidesEndCountsAsReady) {
  Loop loop;
  end_after_a_minute(loop);
  Pipe pipe;
  pipe.in.reset();
  loop.watch(pipe.out.get(), {}, [&](Loop::Ready ready) {
    EXPECT_TRUE(ready.readable && ready.writable);
    loop.stop();
  });
  loop.run();
}

TEST(Loop, ACallbackMayEndItsOwnWatchAndThatOfOthers) {
  Loop loop;
  const Pipe one, other;
  int calls = 0;
  const auto first_wins = [&](Loop::Ready) {
    ++calls;
    loop.unwatch(one.out.get());
    loop.unwatch(other.out.get());
    loop.after(20ms, [&] { loop.stop(); });
  };
  for (const Pipe* each : {&one, &other}) {
    each->put('x');
    loop.watch(each->out.get(), {.readable = true}, first_wins);
  }
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(Loop, TimersFireOnceOrAgainAndAgainUntilCancelled) {
  Loop loop;
  end_after_a_minute(loop);
  int once = 0, often = 0;
  loop.after(1ms, [&] { ++once; });
  loop.cancel(loop.after(1ms, [] { ADD_FAILURE() << "it was cancelled"; }));
  Loop::TimerId timer = 0;
  timer = loop.every(1ms, [&] {
    if (++often < 3) return;
    loop.cancel(timer);
    loop.after(20ms, [&] { loop.stop(); });
  });
  loop.run();
  EXPECT_EQ(once, 1);
  EXPECT_EQ(often, 3);
}

TEST(Loop, SignalsAreHandledInTheLoop) {
  Loop loop;
  end_after_a_minute(loop);
  int calls = 0;
  loop.on_signal(SIGUSR1, [&] {
    if (++calls == 2) return loop.stop();
    ::raise(SIGUSR1);
  });
  ::raise(SIGUSR1);
  EXPECT_EQ(calls, 0);
  loop.run();
  EXPECT_EQ(calls, 2);
}

TEST(Loop, KnowsItsLongestPause) {
  Loop loop;
  end_after_a_minute(loop);
  loop.post([] {
    for (const auto begin = thread_time(); thread_time() - begin < 5ms;) {
    }
  });
  loop.post([&] {
    std::this_thread::sleep_for(60ms);
    loop.stop();
  });
  loop.run();
  EXPECT_GE(loop.longest().wall, 60ms) << "also what waits for a disk is a pause";
  EXPECT_GE(loop.longest().cpu, 5ms);
  EXPECT_LT(loop.longest().cpu, loop.longest().wall);
}

// A thousand that are always ready must not keep a timer from its turn.
TEST(Loop, ManyThatAreReadyLeaveTurnsToOthers) {
  Loop loop;
  end_after_a_minute(loop);
  std::vector<Pipe> pipes(200);
  std::uint64_t calls = 0;
  for (const Pipe& pipe : pipes) {
    loop.watch(pipe.in.get(), {.writable = true}, [&](Loop::Ready) {
      ++calls;
      const auto until = std::chrono::steady_clock::now() + 1ms;
      while (std::chrono::steady_clock::now() < until) {
      }
    });
  }
  std::uint64_t at_timer = 0;
  loop.after(1ms, [&] {
    at_timer = calls;
    loop.stop();
  });
  loop.run();
  EXPECT_LE(at_timer, 64u) << "not a round over all of them";
}

TEST(LoopDeathTest, NothingIsWatchedWithoutADescriptorOrACallback) {
  Loop loop;
  const Pipe pipe;
  EXPECT_DEATH(loop.watch(-1, {.readable = true}, [](Loop::Ready) {}), "please report it");
  EXPECT_DEATH(loop.watch(pipe.out.get(), {.readable = true}, nullptr), "please report it");
}

}  // namespace
}  // namespace ttmem::loop
