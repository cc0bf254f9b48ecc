// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The life of a process and its segment: first call, fork, exec, signals, exit.
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <atomic>
#include <thread>

#include "client/own_process.hpp"

namespace ttmem::client {
namespace {

constexpr char kHost[] = TTMEM_TEST_PROGRAMS "/recorder_host";

class Life : public OwnProcess {
 protected:
  pid_t spawn(std::vector<const char*> arguments, std::vector<std::string> more = {},
              int* output = nullptr) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setenv("TTMEM_DIR", directory.path().c_str(), 1);
    for (const auto& pair : more) putenv(const_cast<char*>(pair.c_str()));
    if (output != nullptr) dup2(*output, STDOUT_FILENO);
    arguments.insert(arguments.begin(), kHost);
    arguments.push_back(nullptr);
    execv(kHost, const_cast<char**>(arguments.data()));
    _exit(99);
  }
};

TEST_F(Life, TheFirstCallMakesTheSegment) {
  EXPECT_EQ(run([&] {
              CHECK_THAT(std::string(ttmem_segment_path()).empty());
              CHECK_THAT(directory.files().empty());
              CHECK_THAT(open_device() == 1);
              CHECK_THAT(directory.files().size() == 1);
              CHECK_THAT(directory.files()[0] == ttmem_segment_path());
              CHECK_THAT(is_locked(ttmem_segment_path()));
            }),
            0);
  EXPECT_FALSE(is_locked(only_file()));
}

TEST_F(Life, AnExitIsAnEndAndAKillIsNot) {
  EXPECT_EQ(wait_for(spawn({"exit"})), 0);
  EXPECT_EQ(TinyReader(only_file()).header().ended, 1u);
  const auto held = TinyReader(only_file()).live(Kind::kBuffer);
  ASSERT_EQ(held.size(), 1u);  // what was freed during static destruction is freed
  EXPECT_EQ(held[0].id, 1u);
  unlink(only_file().c_str());
  EXPECT_EQ(wait_for(spawn({"_exit"})), 0);
  EXPECT_EQ(TinyReader(only_file()).header().ended, 0u);
  EXPECT_EQ(TinyReader(only_file()).count(Kind::kBuffer), 1u);
}

TEST_F(Life, TheEnvironmentTurnsItOff) {
  EXPECT_EQ(wait_for(spawn({"enabled"}, {"TTMEM_DISABLE=1"})), 1);
  EXPECT_EQ(wait_for(spawn({"enabled"}, {"TTMEM_DISABLE=true"})), 1);
  EXPECT_EQ(wait_for(spawn({"enabled"}, {"TTMEM_DISABLE=yes"})), 1);
  EXPECT_TRUE(directory.files().empty());
  EXPECT_EQ(wait_for(spawn({"enabled"}, {"TTMEM_DISABLE=0"})), 0);
}

TEST_F(Life, ExecLetsTheLockGo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t pid = spawn({"exec"}, {}, &ends[1]);
  char line[8] = {};
  ASSERT_GT(read(ends[0], line, 5), 0);
  for (int i = 0; i < 500 && is_locked(only_file()); ++i) usleep(10000);
  EXPECT_FALSE(is_locked(only_file()));
  EXPECT_EQ(kill(pid, 0), 0);  // the process lives, as somebody else
  EXPECT_EQ(TinyReader(only_file()).header().ended, 0u);
  kill(pid, SIGKILL);
  wait_for(pid);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Life, AForkedChildStartsEmptyInASegmentOfItsOwn) {
  EXPECT_EQ(run([&] {
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              const ttmem_workload_t workload = ttmem_workload_created(1, 1);
              allocate(allocator, 1);
              ttmem_tag_push(ttmem_intern_string("parent", 6), 0);
              const std::string parents = ttmem_segment_path();
              const pid_t child = fork();
              if (child == 0) {
                CHECK_THAT(std::string(ttmem_segment_path()).empty());
                allocate(allocator, 1);  // ids of the parent mean nothing here
                ttmem_dispatched(workload, 0, 0, 0);
                CHECK_THAT(ttmem_segment_path() != parents);
                const TinyReader own(ttmem_segment_path());
                CHECK_THAT(own.count(Kind::kBuffer) == 0);
                CHECK_THAT(own.counters().unrecorded == 2);
                CHECK_THAT(own.anomalies(TTMEM_ANOMALY_STALE_HANDLE) == 1);
                CHECK_THAT(own.header().subject.pid == getpid());
                const ttmem_device_t mine = open_device();
                allocate(open_dram_on(mine), 5);
                CHECK_THAT(taken_on(mine) == 1200);
                CHECK_THAT(TinyReader(ttmem_segment_path()).live(Kind::kBuffer)[0].operation == 0);
                _exit(0);
              }
              CHECK_THAT(wait_for(child) == 0);
              CHECK_THAT(parents == ttmem_segment_path());
              CHECK_THAT(taken_on(chip) == 1200);
              CHECK_THAT(is_locked(parents));
            }),
            0);
}

TEST_F(Life, AChildThatRecordsNothingLeavesNoFile) {
  EXPECT_EQ(run([&] {
              open_device();
              const pid_t child = fork();
              if (child == 0) exit(0);
              CHECK_THAT(wait_for(child) == 0);
              CHECK_THAT(directory.files().size() == 1);
              CHECK_THAT(TinyReader(ttmem_segment_path()).header().ended == 0);
            }),
            0);
}

TEST_F(Life, AChildDoesNotKeepItsDeadParentAlive) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = start([&] {
    open_device();
    if (fork() == 0) {
      // The child tells, not the parent: it has left the fork by then, and the lock with it.
      const pid_t child = getpid();
      CHECK_THAT(write(ends[1], &child, sizeof child) == sizeof child);
    }
    pause();
  });
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(is_locked(only_file()));
  kill(parent, SIGKILL);
  EXPECT_EQ(wait_for(parent), 1000 + SIGKILL);
  EXPECT_FALSE(is_locked(only_file()));
  kill(child, SIGKILL);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Life, AChildOfABareCloneStartsEmptyToo) {
  EXPECT_EQ(run([&] {
              open_device();
              const std::string parents = ttmem_segment_path();
              const auto child = static_cast<pid_t>(
                  syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
              if (child == 0) {
                CHECK_THAT(open_device() == 1);
                CHECK_THAT(ttmem_segment_path() != parents);
                _exit(0);
              }
              CHECK_THAT(wait_for(child) == 0);
              CHECK_THAT(is_locked(parents));
            }),
            0);
}

TEST_F(Life, ForksBetweenBusyThreadsNeverDeadlock) {
  EXPECT_EQ(run([&] {
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              std::atomic<bool> stop = false;
              std::vector<std::thread> threads;
              for (std::uint64_t t = 0; t < 3; ++t) {
                threads.emplace_back([&, t] {
                  for (std::uint64_t i = 0; !stop; ++i) {
                    allocate(allocator, t << 40 | i);
                    ttmem_buffer_freed(allocator, 0, t << 40 | i);
                    if (i % 64 == 0) ttmem_intern_string("x", 1);
                  }
                });
              }
              for (int i = 0; i < 300; ++i) {
                const pid_t child = fork();
                if (child == 0) {
                  alarm(20);
                  const ttmem_device_t mine = open_device(77);
                  CHECK_THAT(mine == 1);
                  CHECK_THAT(taken_on(mine) == 0);
                  allocate(open_dram_on(mine), 1);
                  CHECK_THAT(taken_on(mine) == 1200);
                  unlink(ttmem_segment_path());
                  _exit(0);
                }
                CHECK_THAT(wait_for(child) == 0);
              }
              stop = true;
              for (auto& thread : threads) thread.join();
              CHECK_THAT(taken_on(chip) == 0);
            }),
            0);
}

TEST_F(Life, SpawnedProgramsDoNotDisturb) {
  EXPECT_EQ(run([&] {
              const ttmem_allocator_t allocator = open_dram_on(open_device());
              for (std::uint64_t i = 0; i < 20; ++i) {
                const char* arguments[] = {"true", nullptr};
                pid_t pid = 0;
                CHECK_THAT(posix_spawnp(&pid, "true", nullptr, nullptr,
                                        const_cast<char**>(arguments), environ) == 0);
                allocate(allocator, i);
                CHECK_THAT(wait_for(pid) == 0);
              }
              CHECK_THAT(taken_on(1) == 20 * 1200);
              CHECK_THAT(directory.files().size() == 1);
            }),
            0);
}

// ---- signals -------------------------------------------------------------------------------

ttmem_allocator_t handlers_allocator = 0;
volatile std::uint64_t handlers_calls = 0;

void record_in_handler(int) {
  const std::uint64_t call = handlers_calls + 1;
  handlers_calls = call;
  allocate(handlers_allocator, 1ull << 50 | call);
}

TEST_F(Life, AHandlerThatInterruptsTheRecorderIsDroppedAndCounted) {
  EXPECT_EQ(run([&] {
              const ttmem_device_t chip = open_device();
              handlers_allocator = open_dram_on(chip);
              signal(SIGPROF, record_in_handler);
              const itimerval often = {{0, 200}, {0, 200}};
              setitimer(ITIMER_PROF, &often, nullptr);
              std::uint64_t i = 0;
              for (; i < 200000 || (handlers_calls < 20 && i < 50000000); ++i) {
                allocate(handlers_allocator, i);
                ttmem_buffer_freed(handlers_allocator, 0, i);
              }
              const itimerval never = {};
              setitimer(ITIMER_PROF, &never, nullptr);
              const TinyReader seen(ttmem_segment_path());
              const std::uint64_t dropped = seen.anomalies(TTMEM_ANOMALY_IN_SIGNAL);
              CHECK_THAT(handlers_calls >= 20);
              CHECK_THAT(seen.count(Kind::kBuffer) + dropped == handlers_calls);
              CHECK_THAT(seen.counters().unrecorded == dropped);
              CHECK_THAT(taken_on(chip) == seen.count(Kind::kBuffer) * 1200);
            }),
            0);
}

TEST_F(Life, ErrnoIsTheHosts) {
  EXPECT_EQ(run([&] {
              errno = 4711;
              const ttmem_device_t chip = open_device();
              const ttmem_allocator_t allocator = open_dram_on(chip);
              for (std::uint64_t i = 0; i < 20000; ++i) allocate(allocator, i);
              ttmem_allocator_closed(allocator);
              ttmem_device_closed(99);
              ttmem_close();
              CHECK_THAT(errno == 4711);
            }),
            0);
}

// ---- tags ----------------------------------------------------------------------------------

TEST_F(Life, RegionsAreNodesOneInsideTheOther) {
  EXPECT_EQ(run([&] {
              const ttmem_allocator_t allocator = open_dram_on(open_device());
              const ttmem_string_t outer = ttmem_intern_string("outer", 5);
              const ttmem_string_t inner = ttmem_intern_string("inner", 5);
              const ttmem_string_t line = ttmem_intern_line("a.py", 3, nullptr);
              ttmem_tag_push(outer, line);
              ttmem_tag_push(inner, 0);
              allocate(allocator, 1);
              for (int i = 0; i < 1000; ++i) ttmem_tag_push(outer, 0);
              for (int i = 0; i < 1000; ++i) ttmem_tag_pop();
              ttmem_tag_pop();
              allocate(allocator, 2);
              ttmem_tag_pop();
              ttmem_tag_pop();  // one too many
              allocate(allocator, 3);
              const TinyReader seen(ttmem_segment_path());
              std::map<std::uint64_t, Payload> by_id;
              for (const auto& payload : seen.live(Kind::kBuffer)) by_id[payload.id] = payload;
              const auto inside = seen.region(by_id[1].origin);
              CHECK_THAT(seen.blob(inside.name) == "inner");
              CHECK_THAT(inside.line == 0);
              CHECK_THAT(inside.parent == by_id[2].origin);
              const auto around = seen.region(by_id[2].origin);
              CHECK_THAT(seen.blob(around.name) == "outer");
              CHECK_THAT(seen.blob(around.line) == "a.py:3");
              CHECK_THAT(around.parent == 0);
              CHECK_THAT(by_id[3].origin == 0);
            }),
            0);
}

}  // namespace
}  // namespace ttmem::client
