// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A writer is killed at a random moment, for real, again and again. What the table says afterwards
// is what the writer had logged, but for the one operation in flight of each thread.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "client/recording.hpp"
#include "client/write_log.hpp"

namespace ttmem::client {
namespace {

using Held = std::map<std::uint64_t, std::uint64_t>;  // id to block

class SharedLog {
 public:
  explicit SharedLog(const std::string& path) : path_(path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (ftruncate(fd, sizeof(WriteLog)) != 0) throw std::runtime_error("ftruncate");
    memory_ = mmap(nullptr, sizeof(WriteLog), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap");
  }
  ~SharedLog() {
    munmap(memory_, sizeof(WriteLog));
    unlink(path_.c_str());
  }
  SharedLog(const SharedLog&) = delete;
  SharedLog& operator=(const SharedLog&) = delete;
  WriteLog* operator->() const { return static_cast<WriteLog*>(memory_); }

 private:
  std::string path_;
  void* memory_;
};

// A slot that was being written has its last complete state in the event ring.
Payload settled(const TinyReader& reader, const segment::Slot& slot) {
  if (slot.version % 2 == 0) return slot.payload;
  const std::uint64_t number = slot.version >> 1;
  const auto event = reader.record<segment::Event>(
      segment::kEventsOffset, static_cast<std::uint32_t>(number % segment::kEventCapacity));
  EXPECT_EQ(event.number, static_cast<std::uint32_t>(number));
  return event.payload;
}

Held held_by_the_table(const std::string& path) {
  const TinyReader reader(path);
  Held held;
  for (const auto& slot : reader.table()) {
    const Payload payload = settled(reader, slot);
    if (Meta::kind(payload.meta) != Kind::kBuffer || !Meta::live(payload.meta)) continue;
    EXPECT_TRUE(held.emplace(payload.id, Meta::block(payload.meta)).second) << "id held twice";
  }
  return held;
}

void apply(Held& held, std::uint64_t id, std::uint32_t block) {
  if (block == 0) {
    held.erase(id);
  } else {
    held[id] = block;
  }
}

// True if the table equals the log; the step in flight of this thread may or may not have happened.
bool agrees(const Held& table, const WriteLog::Thread& log, std::uint64_t first_id) {
  Held expected;
  const std::uint32_t finished = log.finished, started = log.started;
  for (std::uint32_t i = 0; i < finished; ++i) {
    apply(expected, first_id + log.steps[i].id, log.steps[i].block);
  }
  const Held found(table.lower_bound(first_id), table.lower_bound(first_id + WriteLog::kIds));
  if (found == expected) return true;
  if (started == finished) return false;
  apply(expected, first_id + log.steps[finished].id, log.steps[finished].block);
  return found == expected;
}

void kill_writers(int times) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const TemporaryDirectory directory;
  setenv("TTMEM_DIR", directory.path().c_str(), 1);
  std::uint64_t steps = 0;
  for (int round = 0; round < times && !testing::Test::HasFailure(); ++round) {
    const std::string log_path = directory.path() + "/log";
    const SharedLog log(log_path);
    const char* program = TTMEM_TEST_PROGRAMS "/recorder_host";
    const char* arguments[] = {program, "write", log_path.c_str(), nullptr};
    pid_t pid = 0;
    ASSERT_EQ(posix_spawn(&pid, program, nullptr, nullptr, const_cast<char**>(arguments), environ),
              0);
    while (log->ready.load() == 0 && waitpid(pid, nullptr, WNOHANG) == 0) usleep(200);
    usleep(random() % 8000);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    const Held table = held_by_the_table(log->segment);
    EXPECT_TRUE(agrees(table, log->threads[0], 0)) << "round " << round;
    EXPECT_TRUE(agrees(table, log->threads[1], WriteLog::kIds)) << "round " << round;
    steps += log->threads[0].finished + log->threads[1].finished;
    unlink(log->segment);
  }
  unsetenv("TTMEM_DIR");
  EXPECT_GT(steps, static_cast<std::uint64_t>(times));
  std::printf("%d kills, %llu steps\n", times, static_cast<unsigned long long>(steps));
}

TEST(Kill, TheTableEqualsTheLogAfter200Kills) { kill_writers(200); }
TEST(LongKill, TheTableEqualsTheLogAfter1000Kills) { kill_writers(1000); }

}  // namespace
}  // namespace ttmem::client
