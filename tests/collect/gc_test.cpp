// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is removed, and what never is.
#include "collect/gc.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "segment/limits.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using support::SegmentBuilder;
using support::TemporaryDirectory;

class Garbage : public ::testing::Test {
 protected:
  std::string name(unsigned number) const {
    return directory_ / fmt::format("ttmem-{}-1-{:016x}", 100 + number, number);
  }
  // A segment of a process that is not there (its start time fits nobody).
  std::string make_dead(unsigned number) {
    SegmentBuilder builder(name(number));
    builder.header().subject.start_ticks += 1;
    builder.header().writer = builder.header().subject;
    builder.flush();
    return builder.path();
  }
  std::string make_closed(unsigned number, std::uint64_t seconds_ago) {
    SegmentBuilder builder(name(number));
    builder.header().subject.start_ticks += 1;
    builder.header().writer = builder.header().subject;
    builder.header().ended = static_cast<std::uint32_t>(segment::Ended::kClosed);
    builder.header().ended_ticks = builder.header().clock.ticks - seconds_ago * 1'000'000'000;
    builder.flush();
    return builder.path();
  }
  static void set_age(const std::string& path, std::int64_t seconds) {
    timespec times[2] = {};
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  GcReport collect(bool all = false, bool dry_run = false) {
    return collect_garbage({.directories = {directory_.path()}, .all = all, .dry_run = dry_run});
  }
  TemporaryDirectory directory_;
};

TEST_F(Garbage, TheLivingStay) {
  SegmentBuilder builder(name(1));
  builder.lock();
  const GcReport report = collect(true);
  EXPECT_EQ(report.alive, 1u);
  EXPECT_TRUE(report.removed.empty());
  EXPECT_TRUE(std::filesystem::exists(builder.path()));
}

TEST_F(Garbage, TheDeadStayForADayFromWhenTheyWereFound) {
  const std::string path = make_dead(1);
  set_age(path, 7 * 24 * 3600);  // an idle process whose file is old died just now
  GcReport report = collect();
  ASSERT_EQ(report.kept.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(path));
  struct stat facts{};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0400u) << "the dead are sealed";
  EXPECT_GT(facts.st_mtime, ::time(nullptr) - 60);
  EXPECT_EQ(collect().kept.size(), 1u);
  set_age(path, 24 * 3600 + 5);
  report = collect();
  ASSERT_EQ(report.removed.size(), 1u);
  EXPECT_EQ(report.removed[0].pid, ::getpid());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Garbage, TheClosedStayForAMinute) {
  const std::string old_one = make_closed(1, 61);
  const std::string new_one = make_closed(2, 30);
  const GcReport report = collect();
  EXPECT_FALSE(std::filesystem::exists(old_one));
  EXPECT_TRUE(std::filesystem::exists(new_one));
  EXPECT_EQ(report.removed.size(), 1u);
  EXPECT_EQ(report.kept.size(), 1u);
}

TEST_F(Garbage, AtMost32DeadAndTheOldestGoFirst) {
  std::vector<std::string> paths;
  for (unsigned i = 0; i < segment::kKeepDeadSegments + 3; ++i) paths.push_back(make_dead(i));
  // Found dead at the first look; the order is that of their dates then.
  for (unsigned i = 0; i < paths.size(); ++i) {
    ASSERT_EQ(::chmod(paths[i].c_str(), 0400), 0);
    set_age(paths[i], 1000 - static_cast<std::int64_t>(i));
  }
  const GcReport report = collect();
  EXPECT_EQ(report.removed.size(), 3u);
  for (unsigned i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(std::filesystem::exists(paths[i]), i >= 3) << i;
  }
}

TEST_F(Garbage, AllTakesEveryDeadOneAndDryRunNone) {
  const std::string died = make_dead(1);
  const std::string closed = make_closed(2, 1);
  EXPECT_EQ(collect(true, true).removed.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(died));
  EXPECT_TRUE(std::filesystem::exists(closed));
  EXPECT_EQ(collect(true).removed.size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(died));
  EXPECT_FALSE(std::filesystem::exists(closed));
}

TEST_F(Garbage, NothingIsRemovedWithoutItsLock) {
  const std::string path = make_dead(1);
  support::Child holder([&](const auto& ready) {  // as a forked child of the dead one would
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_len = 1;
    if (::fcntl(descriptor, F_OFD_SETLK, &lock) == 0) ready();
  });
  const GcReport report = collect(true);
  EXPECT_TRUE(report.removed.empty());
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_NE(report.failed[0].reason.find("lock"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path));
  holder.kill();
  EXPECT_EQ(collect(true).removed.size(), 1u);
}

TEST_F(Garbage, WhatIsNoSegmentIsNotTouched) {
  std::ofstream(name(1)) << "my thesis";
  std::ofstream(directory_ / "notes.txt") << "x";
  const GcReport report = collect(true);
  EXPECT_TRUE(report.removed.empty());
  EXPECT_TRUE(std::filesystem::exists(name(1)));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "notes.txt"));
}

}  // namespace
}  // namespace ttmem::collect
