// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who is alive, decided with real processes: the table in collect/liveness.hpp, line by line.
#include "collect/liveness.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "segment/reader_header.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Ended;
using support::Child;
using support::SegmentBuilder;
using support::TemporaryDirectory;

class LivenessOf : public ::testing::Test {
 protected:
  // One look with what a reader knows that starts now.
  Ended look(const ProcFs& procfs) {
    Liveness fresh;
    return look(fresh, procfs);
  }
  Ended look() { return look(ProcFs("")); }
  // One look of a reader that was there before.
  Ended look(Liveness& liveness, const ProcFs& procfs) {
    now_ns_ += kLockEveryNs;
    return look_again(liveness, procfs);
  }
  // Another look before it is time to ask for the lock.
  Ended look_again(Liveness& liveness, const ProcFs& procfs) {
    auto file = segment::ReadOnlyFile::open(path_, std::nullopt);
    EXPECT_TRUE(file);
    auto header = segment::read_header(*file);
    EXPECT_TRUE(header);
    const bool exited = poll_exited({liveness.descriptor()})[0];
    liveness.look(procfs, *header, *file, exited, now_ns_);
    header = segment::read_header(*file);
    return liveness.conclude(*header);
  }
  // Maps the file as a recorder does.
  static void* map(const SegmentBuilder& builder) {
    return ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, builder.descriptor(), 0);
  }
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "s";
  std::uint64_t now_ns_ = 1;
};

TEST_F(LivenessOf, KilledAndNotYetReaped) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    ready();
  });
  const ProcFs procfs("");
  Liveness reader;
  EXPECT_EQ(look(), Ended::kAlive);
  EXPECT_EQ(look(reader, procfs), Ended::kAlive);
  EXPECT_GE(reader.descriptor(), 0);
  child.kill_unreaped();
  EXPECT_EQ(look(), Ended::kDied) << "a zombie holds nothing";
  EXPECT_EQ(look_again(reader, procfs), Ended::kDied) << "an exit is told at once";
  EXPECT_EQ(reader.descriptor(), -1) << "the dead need no descriptor";
  child.reap();
  EXPECT_EQ(look(), Ended::kDied);
}

TEST_F(LivenessOf, ClosedCleanly) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    ready();
    builder.header().ended = static_cast<std::uint32_t>(segment::Ended::kClosed);
    builder.flush();
    ready();
  });
  child.go_on();
  ASSERT_TRUE(child.wait_until_ready());
  EXPECT_EQ(look(), Ended::kAlive) << "it still runs and may still record";
  child.go_on();
  child.wait_unreaped();
  EXPECT_EQ(look(), Ended::kClosed);
}

TEST_F(LivenessOf, ExecKeepsPidAndStartTime) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    ready();
    ::execl("/bin/sleep", "sleep", "30", nullptr);
  });
  const ProcFs procfs("");
  Liveness reader;
  EXPECT_EQ(look(reader, procfs), Ended::kAlive);
  const std::string before = procfs.process(child.pid())->value().comm;
  child.go_on();
  // The kernel changes the name before it closes descriptors, and with them the lock.
  const auto is_through = [&] {
    return procfs.process(child.pid())->value().comm != before &&
           !locked(segment::ReadOnlyFile::open(path_, std::nullopt)->descriptor());
  };
  for (int i = 0; i < 5000 && !is_through(); ++i) ::usleep(1000);
  EXPECT_EQ(look_again(reader, procfs), Ended::kAlive) << "the lock was asked for a moment ago";
  EXPECT_EQ(look(), Ended::kExec);
  EXPECT_EQ(look(reader, procfs), Ended::kExec);
}

TEST_F(LivenessOf, ADescriptorThatTheHostClosed) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    map(builder);
    ::close(builder.descriptor());
    ready();
  });
  EXPECT_EQ(look(), Ended::kAlive) << "it still maps the file";
  child.kill();
  EXPECT_EQ(look(), Ended::kDied);
}

TEST_F(LivenessOf, AForkedChildThatKeptTheLock) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    if (::fork() == 0) {  // ends when the pipe of the test closes
      ::prctl(PR_SET_PDEATHSIG, 0);
      ready();
      ::_exit(0);
    }
    ::pause();
  });
  auto file = segment::ReadOnlyFile::open(path_, std::nullopt);
  ASSERT_TRUE(file);
  EXPECT_EQ(look(), Ended::kAlive);
  child.kill();
  EXPECT_TRUE(locked(file->descriptor())) << "the grandchild has the descriptor";
  EXPECT_EQ(look(), Ended::kDied);
  child.go_on();
}

TEST_F(LivenessOf, AForkedChildThatKeptTheLockOfAnotherProgramNow) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    if (::fork() == 0) {
      ready();
      ::_exit(0);
    }
    ::execl("/bin/sleep", "sleep", "30", nullptr);
  });
  const ProcFs procfs("");
  for (int i = 0; i < 5000 && procfs.process(child.pid())->value().comm != "sleep"; ++i)
    ::usleep(1000);
  auto file = segment::ReadOnlyFile::open(path_, std::nullopt);
  ASSERT_TRUE(file);
  EXPECT_TRUE(locked(file->descriptor())) << "the grandchild has the descriptor";
  EXPECT_EQ(look(), Ended::kExec);
  child.go_on();
}

TEST_F(LivenessOf, AReaderThatWatchesNoticesTheOtherProgramAfterSomeLooks) {
  Child child([&](const auto& ready) {
    SegmentBuilder builder(path_);
    builder.lock();
    const pid_t parent = ::getpid();
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) ::pause();  // else it died before it could be asked for
      ::_exit(0);
    }
    ready();
    ::execl("/bin/sleep", "sleep", "30", nullptr);
  });
  const ProcFs procfs("");
  Liveness reader;
  EXPECT_EQ(look(reader, procfs), Ended::kAlive);
  EXPECT_GE(reader.descriptor(), 0);
  child.go_on();
  for (int i = 0; i < 5000 && procfs.process(child.pid())->value().comm != "sleep"; ++i)
    ::usleep(1000);
  for (std::uint32_t i = 1; i < kLooksToName; ++i) EXPECT_EQ(look(reader, procfs), Ended::kAlive);
  EXPECT_EQ(look(reader, procfs), Ended::kExec);
}

TEST_F(LivenessOf, AWriterThatIsNotTheSubject) {
  SegmentBuilder builder(path_);
  Child subject([](const auto& ready) { ready(); });
  const ProcFs procfs("");
  builder.header().subject.pid = subject.pid();
  builder.header().subject.start_ticks = procfs.process(subject.pid())->value().start_ticks;
  builder.flush();
  EXPECT_EQ(look(), Ended::kAlive) << "the writer is gone, the subject is not";
  builder.lock();
  EXPECT_EQ(look(), Ended::kAlive);
  subject.kill();
  EXPECT_EQ(look(), Ended::kDied) << "the writer lives, the subject does not";
}

TEST_F(LivenessOf, AnotherBoot) {
  SegmentBuilder builder(path_);
  builder.lock();
  builder.header().subject.boot_id[3] ^= 1;
  builder.header().writer = builder.header().subject;
  builder.flush();
  EXPECT_EQ(look(), Ended::kDied);
}

TEST_F(LivenessOf, AReusedPid) {
  SegmentBuilder builder(path_);
  builder.header().subject.start_ticks += 1;
  builder.header().writer = builder.header().subject;
  builder.flush();
  EXPECT_EQ(look(), Ended::kDied);
}

TEST_F(LivenessOf, AnotherPidNamespaceHasOnlyTheLock) {
  SegmentBuilder builder(path_);
  builder.header().subject.pid_namespace += 1;
  builder.header().subject.pid = 1;
  builder.header().writer = builder.header().subject;
  builder.flush();
  EXPECT_EQ(look(), Ended::kDied);
  builder.lock();
  EXPECT_EQ(look(), Ended::kAlive);
}

TEST_F(LivenessOf, AMadeUpProc) {
  SegmentBuilder builder(path_);
  namespace fs = std::filesystem;
  const std::string root = directory_ / "root";
  fs::create_directories(root + "/proc/sys/kernel/random");
  fs::create_directories(root + "/proc/self/ns");
  fs::create_directories(root + "/proc/4711");
  std::ofstream(root + "/proc/sys/kernel/random/boot_id")
      << std::ifstream("/proc/sys/kernel/random/boot_id").rdbuf();
  std::ofstream(root + "/proc/4711/maps") << "00400000-00401000 r-xp 00000000 fe:00 17 /bin/x\n";
  fs::create_symlink("pid:[77]", root + "/proc/self/ns/pid");
  builder.header().subject.pid = 4711;
  builder.header().subject.pid_namespace = 77;
  builder.header().subject.start_ticks = 987654;
  builder.header().writer = builder.header().subject;
  builder.lock();
  builder.flush();
  const std::string fields = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 1\n";
  std::ofstream(root + "/proc/4711/stat") << "4711 (a) Z (b) c) S" << fields;
  EXPECT_EQ(look(ProcFs(root)), Ended::kExec) << "another name, and no map of the file";
  std::ofstream(root + "/proc/4711/stat")
      << "4711 (" << segment::text(builder.header().subject.name) << ") S" << fields;
  EXPECT_EQ(look(ProcFs(root)), Ended::kAlive);
  std::ofstream(root + "/proc/4711/stat") << "4711 (a) Z" << fields;
  EXPECT_EQ(look(ProcFs(root)), Ended::kDied) << "a zombie";
}

TEST(ParseStat, NamesMayContainAnything) {
  const auto facts =
      parse_stat("12 (a ) R (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 555 0");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->comm, "a ) R (b");
  EXPECT_EQ(facts->state, 'S');
  EXPECT_EQ(facts->start_ticks, 555u);
  EXPECT_FALSE(parse_stat(""));
  EXPECT_FALSE(parse_stat("12 (a) S 1 2"));
  EXPECT_FALSE(parse_stat(") ("));
}

}  // namespace
}  // namespace ttmem::collect
