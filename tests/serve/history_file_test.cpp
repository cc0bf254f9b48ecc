// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What happens to the file: restarts, killed daemons, full disks, files that are broken or not
// ours.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "serve/history_world.hpp"

namespace ttmem::test {
namespace {

namespace fs = std::filesystem;

constexpr int kCannot = 77;

class HistoryFileTest : public ::testing::Test, protected HistoryWorld {
 protected:
  void SetUp() override {
    add_device(0xA1);
    add_process(10);
    set_dram(0, 100);
  }
  std::string refusal() const {
    const auto opened = History::open(path, {}, now());
    return opened ? std::string() : opened.error().message;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(folder)) names.push_back(each.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  void overwrite(std::streamoff at, const std::string& bytes) const {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(at);
    file << bytes;
  }
  void make_some_history() {
    open();
    for (int i = 0; i < 200; ++i) {
      set_dram(0, 1000 + static_cast<std::uint64_t>(i));
      record();
      pass(1);
    }
    history->close(now());
    history.reset();
  }
};

TEST_F(HistoryFileTest, GoesOnAfterARestart) {
  open();
  record();
  pass(10);
  set_dram(0, 200);
  record();
  restart();
  record();
  pass(10);
  set_dram(0, 300);
  record();
  EXPECT_EQ(points("dram.taken", kStart, kStart + 30, 10),
            (std::vector<Point>{flat(100), {100, 200, 200}, {200, 300, 300}}));
  EXPECT_EQ(runs().size(), 1u);
}

TEST_F(HistoryFileTest, WhileItWasDownNothingIsKnown) {
  open();
  record();
  pass(10);
  history->close(now());
  history.reset();
  clock_s += 100;
  set_dram(0, 250);
  open();
  record();
  pass(5);
  const auto found = points("dram.taken", kStart, kStart + 120, 10);
  EXPECT_EQ(found[0], flat(100));
  EXPECT_EQ(found[1], flat(100));  // its first second
  for (int step = 2; step <= 10; ++step) EXPECT_EQ(found[step], Point{}) << step;
  EXPECT_EQ(found[11], flat(250));  // what was before is not known to have held
}

TEST_F(HistoryFileTest, AKilledDaemonIsKnownToTheMinute) {
  open();
  record();
  pass(300);
  history.reset();  // no close
  clock_s += 1000;
  open();
  record();
  pass(10);
  const auto found = points("dram.taken", kStart, clock_s, 60);
  EXPECT_EQ(found[3], flat(100));
  EXPECT_EQ(found[10], Point{});
  EXPECT_EQ(found.back(), flat(100));
}

TEST_F(HistoryFileTest, AProcessThatWentWhileNobodyLookedEndsUnknown) {
  open();
  record();
  pass(10);
  history->close(now());
  history.reset();
  clock_s += 100;
  snapshot.processes.clear();
  sum_up();
  open();
  record();
  ASSERT_EQ(runs().size(), 1u);
  EXPECT_EQ(runs()[0].ended, "unknown");
  EXPECT_EQ(runs()[0].ended_at, static_cast<std::uint64_t>(kStart + 10) * kNs);
  EXPECT_EQ(points("dram.taken", clock_s, clock_s + 1, 1), (std::vector<Point>{{}}));
}

TEST_F(HistoryFileTest, ASuspendedHostWasNotThere) {
  open();
  record();
  pass(10);
  clock_s += 3000;
  pass(10);
  const auto found = points("dram.taken", kStart, clock_s, 10);
  EXPECT_EQ(found[100], Point{});
  EXPECT_EQ(found.back(), flat(100));
}

TEST_F(HistoryFileTest, NobodyElseMayReadIt) {
  open();
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(HistoryFileTest, FoldersAreMade) {
  path = folder / "a" / "b" / "history.db";
  open();
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(HistoryFileTest, ATextFileIsLeftAlone) {
  write("my notes\n");
  EXPECT_NE(refusal().find("is not a history of ttmem"), std::string::npos);
  const auto opened = History::open_or_memory(path, {}, now());
  EXPECT_NE(opened.notice.find("in memory"), std::string::npos);
  EXPECT_EQ(opened.history->status().path, "");
  EXPECT_EQ(fs::file_size(path), 9u);
  EXPECT_EQ(files(), std::vector<std::string>{"history.db"});
}

TEST_F(HistoryFileTest, MemoryTakesItsPlaceAndAnswers) {
  write("my notes\n");
  history = std::move(History::open_or_memory(path, {}, now()).history);
  record();
  pass(20);
  EXPECT_EQ(points("dram.taken", kStart, kStart + 10, 10), (std::vector<Point>{flat(100)}));
  EXPECT_NE(history->status().problem.find("is not a history"), std::string::npos);
}

TEST_F(HistoryFileTest, AFolderIsNoFile) {
  fs::create_directory(path);
  EXPECT_NE(refusal().find("is not a file"), std::string::npos);
}

TEST_F(HistoryFileTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  make_some_history();
  overwrite(68, "abcd");  // the application id
  EXPECT_NE(refusal().find("is not a history of ttmem"), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{"history.db"});
}

TEST_F(HistoryFileTest, ANewerOneIsLeftAlone) {
  make_some_history();
  overwrite(60, std::string("\0\0\0\x04", 4));  // the format
  EXPECT_NE(refusal().find("newer ttmem"), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{"history.db"});
}

// Kept as they were: what an older daemon recorded is not lost when ttmem is updated.
class HistoryOfEarlierFormat : public HistoryFileTest, public ::testing::WithParamInterface<int> {};

TEST_P(HistoryOfEarlierFormat, IsReadAndGoesOn) {
  std::string sql;
  for (int format = 1; format <= GetParam(); ++format) {
    std::ifstream kept(fs::path(TTMEM_SOURCE_DIR) /
                       fmt::format("tests/serve/kept/history_format_{}.sql", format));
    sql += std::string(std::istreambuf_iterator<char>(kept), {});
  }
  {
    auto old = serve::history::Database::open(path);
    ASSERT_TRUE(old && (*old)->script(sql.c_str())) << path;
  }
  clock_s = kStart + 30;
  open();
  for (const std::string& name : files()) EXPECT_EQ(name.find("broken"), std::string::npos) << name;
  record();
  history->record({{.minute_s = kStart, .unique_id = 0xA1, .name = "matmul", .launches = 7}});
  restart();
  EXPECT_EQ(points("dram.taken", kStart, kStart + 40, 10),
            (std::vector<Point>{flat(100), {100, 200, 200}, {}, flat(100)}));
  ASSERT_EQ(runs().size(), 2u);
  EXPECT_EQ(runs()[1].ended, "closed");
  const auto busy = history->busy_programs({.from = 0, .to = ~0ull, .device = {{{}, 0xA1}}});
  ASSERT_TRUE(busy && busy->size() == 1);
  EXPECT_EQ(busy->front().launches, 7u);
}

INSTANTIATE_TEST_SUITE_P(HistoryFileTest, HistoryOfEarlierFormat, ::testing::Values(1, 2));

TEST_F(HistoryFileTest, ABrokenOneIsMovedAsideAndSaid) {
  make_some_history();
  overwrite(100, std::string(4000, '\xAA'));  // the tables of its first page
  const auto size = fs::file_size(path);
  auto opened = History::open_or_memory(path, {}, now());
  EXPECT_NE(opened.notice.find("was damaged and is kept as"), std::string::npos);
  EXPECT_EQ(opened.history->status().path, path);
  EXPECT_EQ(fs::file_size(fmt::format("{}.broken-{}", path, clock_s)), size);
}

TEST_F(HistoryFileTest, OneThatBreaksLaterIsMovedAsideToo) {
  make_some_history();
  const auto pages = static_cast<std::streamoff>(fs::file_size(path) / 4096);
  for (std::streamoff page = 1; page < pages; ++page) overwrite(page * 4096, std::string(200, 'x'));
  history = std::move(History::open_or_memory(path, {}, now()).history);
  record();
  pass(10);
  set_dram(0, 77);
  record();
  pass(10);
  EXPECT_TRUE(fs::exists(folder / fmt::format("history.db.broken-{}", clock_s - 20)) ||
              files().size() >= 2);
  EXPECT_EQ(history->status().path, path);
  EXPECT_EQ(points("dram.taken", clock_s - 5, clock_s, 5).back().last, 77);
}

TEST_F(HistoryFileTest, ASecondDaemonIsToldThatItIsInUse) {
  open();
  record();
  EXPECT_NE(refusal().find("in use by another process"), std::string::npos);
}

TEST_F(HistoryFileTest, AFolderThatMayNotBeWritten) {
  if (::geteuid() != 0) {
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_NE(refusal().find("cannot write"), std::string::npos);
    fs::permissions(folder, fs::perms::owner_all);
  }
  path = "/proc/ttmem/history.db";  // not even for root
  EXPECT_NE(refusal().find("cannot create the folder"), std::string::npos);
  path = "/proc/ttmem-history.db";
  EXPECT_NE(refusal().find("cannot write"), std::string::npos);
}

// What stands in the way of a write, and how it is taken away.
struct Obstacle {
  std::function<bool(HistoryWorld&)> make, remove;
};

// The exit code says where it went wrong.
int survive(HistoryWorld& world, const Obstacle& obstacle) {
  Limits limits;
  limits.pending_rows = 300;
  world.open(limits);
  if (!obstacle.make(world)) return 2;
  std::uint64_t value = 0;
  for (int i = 0; i < 2000; ++i) {
    world.set_dram(0, ++value);
    world.record();
    world.pass(1);
  }
  const auto full = world.history->status();
  if (full.problem.find("cannot write") == std::string::npos) return 3;
  if (full.lost_rows == 0) return 4;
  // What waits in memory answers.
  const auto last = world.points("dram.taken", world.clock_s - 1, world.clock_s, 1).back().last;
  if (last != static_cast<std::int64_t>(value)) return 5;
  if (!obstacle.remove(world)) return 6;
  world.pass(130);
  if (!world.history->status().problem.empty()) return 7;
  world.restart();
  world.record();
  const auto again = world.points("dram.taken", world.clock_s - 130, world.clock_s, 130);
  return again.back().last == static_cast<std::int64_t>(value) ? 0 : 8;
}

// In a child, because neither a limit nor a mount may outlive the test.
int survive_in_child(HistoryWorld& world, const Obstacle& obstacle,
                     const std::function<bool()>& prepare) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(prepare() ? survive(world, obstacle) : kCannot);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(HistoryFileTest, ALimitOnFileSizesIsSaidAndSurvived) {
  const auto limit = [](rlim_t bytes) {
    const rlimit both{bytes, RLIM_INFINITY};
    return ::setrlimit(RLIMIT_FSIZE, &both) == 0;
  };
  const Obstacle small{[&](HistoryWorld&) { return limit(64 << 10); },
                       [&](HistoryWorld&) { return limit(RLIM_INFINITY); }};
  EXPECT_EQ(survive_in_child(*this, small, [] { return true; }), 0);
}

TEST_F(HistoryFileTest, AFullDiskIsSaidAndSurvived) {
  const auto mount_small_disk = [this] {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", folder.c_str(), "tmpfs", 0, "size=512k") == 0;
  };
  const Obstacle full{[](HistoryWorld& world) {
                        std::ofstream filler(world.folder / "filler", std::ios::binary);
                        filler << std::string(1 << 20, 'x') << std::flush;
                        return !filler;  // no room was left
                      },
                      [](HistoryWorld& world) { return fs::remove(world.folder / "filler"); }};
  const int code = survive_in_child(*this, full, mount_small_disk);
  if (code == kCannot) GTEST_SKIP() << "a small disk can only be mounted by root";
  EXPECT_EQ(code, 0);
}

TEST_F(HistoryFileTest, TheFileStaysBelowItsLimit) {
  Limits limits;
  limits.file_bytes = 1 << 20;
  for (std::uint64_t id = 1; id < 16; ++id) add_device(id);
  open(limits);
  for (std::uint64_t i = 0; i < 2 * 3600; ++i) {  // some 4 MiB without a limit
    for (ledger::DeviceView& device : snapshot.devices) {
      HistoryWorld::dram(device.figures).taken = i;
      device.figures.program_l1.resident = i * 3;
    }
    record();
    pass(1);
    ASSERT_LE(fs::file_size(path), limits.file_bytes);
    ASSERT_LE(fs::file_size(path + "-wal"), 6u << 20);
  }
  EXPECT_EQ(history->status().problem, "");
  // The latest is there second by second; what is older is coarser than without the limit.
  Query query = ask("dram.taken", clock_s - 60, clock_s, 60);
  query.device = {std::nullopt, 0xA1};
  EXPECT_EQ(answer(query).series.at(0).points.back().last, 2 * 3600 - 1);
  query.from = static_cast<std::uint64_t>(clock_s - 3600) * kNs;
  query.step_s = 1;
  EXPECT_EQ(answer(query).step_s, 300);
  EXPECT_GT(answer(query).series.at(0).points.front().max, 3000);
}

TEST_F(HistoryFileTest, SeriesBeyondTheLimitAreRefusedAndSaid) {
  Limits limits;
  limits.series = 5;
  open(limits);
  for (int pid = 20; pid < 30; ++pid) add_process(pid);
  for (std::size_t i = 0; i < snapshot.processes.size(); ++i) set_dram(i, 10);
  record();
  EXPECT_EQ(history->status().series, 5u);
  EXPECT_GT(history->status().refused_series, 0u);
  EXPECT_NE(history->status().problem.find("the limit"), std::string::npos);
}

TEST_F(HistoryFileTest, RunsAreBoundedInNumberAndAge) {
  Limits limits;
  limits.runs = 50;
  open(limits);
  snapshot.processes.clear();
  for (int pid = 100; pid < 300; ++pid) {
    add_process(pid);
    record();
    pass(1);
    end_process(0, ledger::Ended::kClosed);
    record();
    snapshot.processes.clear();
    record();
    pass(1);
  }
  pass(130);
  RunQuery query;
  query.limit = 1000;
  EXPECT_LE(runs(query).size(), 51u);
  EXPECT_EQ(runs(query).front().pid, 299);
  clock_s += 366 * 86'400;
  record();
  pass(10);
  EXPECT_FALSE(runs(query).empty()) << "not before that clock has held for a day";
  for (int i = 0; i < 9'700; ++i) {
    clock_s += 9;
    history->tick(now());
  }
  EXPECT_TRUE(runs(query).empty());
}

// A figure that changes every 10 seconds for 100 days, and one that never does.
TEST_F(HistoryFileTest, NinetyDays) {
  Limits limits;
  limits.batch_s = 3600;  // for the sake of the test's time
  open(limits);
  snapshot.devices[0].figures.headroom.min = 4096;
  std::uint64_t value = 0;
  constexpr std::int64_t kDays = 100;
  for (std::int64_t i = 0; i < kDays * 8640; ++i) {
    if (i % 30 == 0) {
      set_dram(0, ++value);
      record();
    }
    clock_s += 10;
    history->tick(now());
  }
  restart();
  record();
  const std::int64_t end = clock_s;
  const auto quarter = points("dram.taken", end - 90 * 86'400, end, 86'400);
  ASSERT_GE(quarter.size(), 90u);
  for (std::size_t day = 1; day + 1 < quarter.size(); ++day) {
    ASSERT_TRUE(quarter[day].last) << day;
    EXPECT_EQ(*quarter[day].last - quarter[day - 1].last.value_or(0), 288) << day;
    // The first change of a day comes in its first second; what was before held until then.
    EXPECT_EQ(*quarter[day].max - *quarter[day].min, 288) << day;
  }
  // What never changed has no row left, and is known all the same.
  const auto still = points("headroom.min", end - 89 * 86'400, end, 86'400);
  for (std::size_t day = 0; day + 1 < still.size(); ++day) EXPECT_EQ(still[day], flat(4096));
  // What is too old is gone.
  EXPECT_EQ(points("dram.taken", end - 99 * 86'400, end - 98 * 86'400, 86'400)[0], Point{});
  EXPECT_LT(fs::file_size(path), 4u << 20);
}

TEST(HistoryPath, FollowsTheUsualPlaces) {
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(History::default_path(false), "/state/ttmem/history.db");
  ::unsetenv("XDG_STATE_HOME");
  ::setenv("HOME", "/home/user1", 1);
  EXPECT_EQ(History::default_path(false), "/home/user1/.local/state/ttmem/history.db");
  EXPECT_EQ(History::default_path(true), "/var/lib/ttmem/history.db");
}

}  // namespace
}  // namespace ttmem::test
