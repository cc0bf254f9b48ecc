// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Many processes seen as one host.
#include "collect/collector.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Ended;
using ledger::Space;
using support::buffer_payload;
using support::Child;
using support::SegmentBuilder;
using support::TemporaryDirectory;

class CollectorOf : public ::testing::Test {
 protected:
  std::string name(unsigned number) const {
    return directory_ / fmt::format("ttmem-{}-1-{:016x}", 100 + number, number);
  }
  Options options() const {
    Options options;
    options.directories = {directory_.path()};
    return options;
  }
  // What a process writes that lives and has one buffer in DRAM.
  static void hold(SegmentBuilder& builder, std::uint64_t address, std::uint64_t block) {
    builder.lock();
    builder.add_usual_device();
    builder.put(0, buffer_payload(1, address, block));
  }
  Child another(unsigned number, std::uint64_t address, std::uint64_t block) {
    return Child([&](const auto& ready) {
      SegmentBuilder builder(name(number));
      hold(builder, address, block);
      ready();
    });
  }
  static std::uint64_t dram_taken(const Collector& collector) {
    if (collector.snapshot().devices.empty()) return 0;
    return collector.snapshot().devices[0].figures.space(Space::kDram).taken.value_or(0);
  }
  TemporaryDirectory directory_;
};

TEST_F(CollectorOf, NothingThere) {
  Options options;
  options.directories = {directory_ / "missing"};
  Collector collector(options);
  collector.refresh();
  EXPECT_TRUE(collector.snapshot().devices.empty());
  EXPECT_TRUE(collector.snapshot().processes.empty());
  EXPECT_TRUE(collector.unreadable().empty());
  ASSERT_EQ(collector.directories().size(), 1u);
}

TEST_F(CollectorOf, TwoProcessesOnOneDeviceAddUpAndADeadOneIsTakenOut) {
  SegmentBuilder mine(name(1));
  hold(mine, 64, 1000);
  Child other = another(2, 64, 500);
  Collector collector(options());
  collector.refresh();
  ASSERT_EQ(collector.snapshot().devices.size(), 1u);
  ASSERT_EQ(collector.snapshot().processes.size(), 2u);
  EXPECT_EQ(dram_taken(collector), 12 * 1500u);
  EXPECT_EQ(collector.snapshot().devices[0].processes, 2u);

  mine.put(1, buffer_payload(2, 2000, 100));
  mine.put(0, buffer_payload(1, 64, 1000, 0, false));
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 600u);

  other.kill();
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 100u);
  ASSERT_EQ(collector.snapshot().processes.size(), 2u);
  const ledger::ProcessView& dead = collector.snapshot().processes[1];
  EXPECT_FALSE(dead.alive);
  EXPECT_EQ(dead.ended, Ended::kDied);
  EXPECT_EQ(dead.ended_at, collector.snapshot().time) << "this reader was there";
  ASSERT_EQ(dead.devices.size(), 1u);
  EXPECT_EQ(dead.devices[0].figures.space(Space::kDram).taken, 12 * 500u) << "the black box";
  unsigned live = 0, of_the_dead = 0;
  collector.holdings([&](const ledger::HoldingView& holding) {
    ++(holding.process->alive ? live : of_the_dead);
    EXPECT_EQ(holding.devices, std::vector<std::uint32_t>{0});
  });
  EXPECT_EQ(live, 1u);
  EXPECT_EQ(of_the_dead, 1u);
}

TEST_F(CollectorOf, WhereNothingChangesOnlyTheTimeDoes) {
  SegmentBuilder builder(name(1));
  hold(builder, 64, 1000);
  Collector collector(options());
  collector.refresh();
  const ledger::Snapshot first = collector.snapshot();
  collector.refresh();
  EXPECT_FALSE(collector.changed());
  EXPECT_GT(collector.snapshot().time, first.time);
  EXPECT_EQ(collector.snapshot().processes, first.processes);
  EXPECT_EQ(collector.snapshot().devices, first.devices);

  builder.put(1, buffer_payload(2, 2000, 100));
  collector.refresh();
  EXPECT_TRUE(collector.changed());
  EXPECT_EQ(dram_taken(collector), 12 * 1100u);
  SegmentBuilder second(name(2));
  hold(second, 4096, 50);
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 1150u);
  std::filesystem::remove(name(2));
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 1150u) << "the process still lives";
}

TEST_F(CollectorOf, ADirectoryThatWasQuietForLongIsStillWatched) {
  SegmentBuilder first(name(1));
  hold(first, 64, 1000);
  Collector collector(options());
  const auto grow_quiet = [&collector] {
    for (int i = 0; i < 3; ++i) {
      ::usleep(150'000);
      collector.refresh();
    }
  };
  grow_quiet();
  EXPECT_EQ(dram_taken(collector), 12 * 1000u);

  std::ofstream(name(2)) << "";
  grow_quiet();
  SegmentBuilder second(name(2));  // fills the file that is there
  hold(second, 4096, 50);
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 1050u);

  grow_quiet();
  ASSERT_EQ(::unlink(name(2).c_str()), 0);
  SegmentBuilder third(name(3));
  hold(third, 8192, 7);
  collector.refresh();
  EXPECT_EQ(collector.snapshot().processes.size(), 3u);
  EXPECT_EQ(dram_taken(collector), 12 * 1057u);
}

TEST_F(CollectorOf, AQuietProcessIsLookedAtLessOftenAndItsEndIsSeenAtOnce) {
  SegmentBuilder mine(name(1));
  hold(mine, 64, 1000);
  Child other = another(2, 64, 500);
  Options rarely = options();
  rarely.quiet_every_ms = 100;
  Collector collector(rarely);
  collector.refresh();
  ::usleep(450'000);
  collector.refresh();  // quiet from now on
  other.kill();
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 1000u);
  mine.put(1, buffer_payload(2, 2000, 100));
  for (int i = 0; i < 200 && dram_taken(collector) != 12 * 1100u; ++i) {
    ::usleep(10'000);
    collector.refresh();
  }
  EXPECT_EQ(dram_taken(collector), 12 * 1100u);
  mine.put(2, buffer_payload(3, 4000, 10));
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 1110u) << "it is not quiet any more";
}

TEST_F(CollectorOf, BadFilesAreListedWithReasonsAndHarmNobody) {
  SegmentBuilder good(name(1));
  hold(good, 64, 1000);
  SegmentBuilder future(name(2));
  future.header().major = 9;
  future.flush();
  std::ofstream(name(3)) << "garbage";
  ASSERT_EQ(::symlink(name(1).c_str(), name(4).c_str()), 0);
  std::ofstream(directory_ / "README") << "no segment by its name";
  timespec old[2] = {{1, 0}, {1, 0}};
  for (unsigned i : {2u, 3u}) ASSERT_EQ(::utimensat(AT_FDCWD, name(i).c_str(), old, 0), 0);
  Collector collector(options());
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 1000u);
  ASSERT_EQ(collector.unreadable().size(), 3u);
  EXPECT_EQ(collector.unreadable()[0].error.code, ErrorCode::kWrongVersion);
  EXPECT_EQ(collector.unreadable()[1].error.code, ErrorCode::kCorrupt);
  EXPECT_EQ(collector.unreadable()[2].error.code, ErrorCode::kWrongKind);
  EXPECT_EQ(collector.snapshot().unreadable.size(), 3u);
}

TEST_F(CollectorOf, ASegmentThatIsBeingMadeIsNoComplaint) {
  std::ofstream(name(1)) << "";
  Collector collector(options());
  collector.refresh();
  EXPECT_TRUE(collector.unreadable().empty());
}

TEST_F(CollectorOf, ForeignFilesInAPrivateDirectory) {
  SegmentBuilder builder(name(1));
  builder.lock();
  if (::chown(name(1).c_str(), 4711, 4711) != 0 || ::chown(directory_.path().c_str(), 4712, 0)) {
    GTEST_SKIP() << "only root can give a file away";
  }
  Collector collector(options());
  collector.refresh();
  EXPECT_TRUE(collector.snapshot().processes.empty());
  ASSERT_EQ(collector.unreadable().size(), 1u);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 02775), 0);  // host-wide: files of many owners
  collector.refresh();
  EXPECT_EQ(collector.snapshot().processes.size(), 1u);
}

TEST_F(CollectorOf, AShrunkSegmentIsDroppedAndSaid) {
  SegmentBuilder builder(name(1));
  hold(builder, 64, 1000);
  Collector collector(options());
  collector.refresh();
  ASSERT_EQ(collector.snapshot().processes.size(), 1u);
  ASSERT_EQ(::truncate(name(1).c_str(), 10), 0);
  collector.refresh();
  EXPECT_TRUE(collector.snapshot().processes.empty());
  EXPECT_EQ(collector.unreadable().size(), 1u);
}

TEST_F(CollectorOf, ADeletedFileOfALivingProcessStillCountsUntilItIsRecreated) {
  SegmentBuilder builder(name(1));
  hold(builder, 64, 1000);
  Collector collector(options());
  collector.refresh();
  ASSERT_EQ(::unlink(name(1).c_str()), 0);
  builder.put(1, buffer_payload(2, 2000, 1000));
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 2000u);
  SegmentBuilder again(name(2));
  again.lock();
  again.add_usual_device();
  again.header().flags |= segment::kHeaderRecreated;
  again.put(0, buffer_payload(1, 64, 700));
  collector.refresh();
  EXPECT_EQ(dram_taken(collector), 12 * 700u) << "counted twice";
  EXPECT_EQ(collector.snapshot().processes.size(), 1u);
}

TEST_F(CollectorOf, OneProcessAsked) {
  SegmentBuilder one(name(1)), two(name(2));
  two.header().subject.pid = 102;
  two.flush();
  Options wanted = options();
  wanted.process = ledger::ProcessSelector{102, {}, {}};
  Collector collector(wanted);
  collector.refresh();
  ASSERT_EQ(collector.snapshot().processes.size(), 1u);
  EXPECT_EQ(collector.snapshot().processes[0].segment, "ttmem-102-1-0000000000000002");
}

TEST_F(CollectorOf, TotalsOnlyGivesTheSameSums) {
  SegmentBuilder builder(name(1));
  builder.lock();
  builder.add_usual_device();
  for (std::uint32_t i = 0; i < 100; ++i)
    builder.put(i, buffer_payload(i, 64 + i * 4096, 64, i % 2));
  Options wanted = options();
  wanted.totals_only = true;
  Collector full(options()), totals(wanted);
  for (int round = 0; round < 3; ++round) {
    full.refresh();
    totals.refresh();
    ASSERT_EQ(totals.snapshot().devices.size(), 1u);
    for (const Space space : {Space::kDram, Space::kL1}) {
      const auto& a = full.snapshot().devices[0].figures.space(space);
      const auto& b = totals.snapshot().devices[0].figures.space(space);
      EXPECT_EQ(a.taken, b.taken);
      EXPECT_EQ(a.occupied, b.occupied);
      EXPECT_EQ(a.requested, b.requested);
      EXPECT_EQ(a.count, b.count);
      EXPECT_EQ(a.capacity, b.capacity);
    }
    const auto slot = static_cast<std::uint32_t>(round);
    builder.put(slot, buffer_payload(slot, 0, 64, slot % 2, false));
  }
}

TEST_F(CollectorOf, AFailureKeepsItsPicture) {
  SegmentBuilder builder(name(1));
  builder.lock();
  builder.add_usual_device();
  auto failure = std::make_unique<segment::Failure>();
  failure->version = 2;
  failure->number = 1;
  failure->kind = 1;
  failure->requested = 4096;
  failure->set = 1;
  failure->space = 1;
  failure->picture_slots = 2;
  std::strcpy(failure->message, "TT_FATAL\ninfo:\033out of memory");
  failure->picture[0].payload = buffer_payload(11, 64, 1000);
  failure->picture[1].payload = buffer_payload(12, 2000, 500);
  builder.write(segment::kFailuresOffset, failure.get(), sizeof *failure);
  builder.header().failure_count = 1;
  builder.flush();
  Collector collector(options());
  collector.refresh();
  const ledger::ProcessView& process = collector.snapshot().processes.at(0);
  ASSERT_EQ(process.failures.size(), 1u);
  EXPECT_EQ(process.failures[0].kind, "out_of_memory");
  EXPECT_EQ(process.failures[0].message, "TT_FATAL\ninfo:?out of memory");
  EXPECT_EQ(process.failures[0].requested, 4096u);
  EXPECT_EQ(process.failures[0].devices, std::vector<std::uint64_t>{0xABC});
  const auto picture = collector.failure_picture(process.key, 1);
  ASSERT_TRUE(picture);
  ASSERT_EQ(picture->size(), 2u);
  EXPECT_EQ((*picture)[0].id, 11u);
  EXPECT_EQ((*picture)[1].taken, 12 * 500u);
  EXPECT_FALSE(collector.failure_picture(process.key, 2));
  EXPECT_FALSE(collector.failure_picture(process.key + 1, 1));
}

TEST_F(CollectorOf, DefaultDirectoriesBelowAMadeUpRoot) {
  const std::string root = directory_ / "root";
  const std::string own = fmt::format("{}/dev/shm/ttmem-{}", root, ::geteuid());
  std::filesystem::create_directories(own);
  ASSERT_EQ(::chmod(own.c_str(), 0700), 0);
  std::filesystem::create_directories(root + "/dev/shm/ttmem-4711");  // not 4711's
  SegmentBuilder builder(own + "/ttmem-7-1-0000000000000001");
  ::unsetenv("TTMEM_DIR");
  Options wanted;
  wanted.root = root;
  Collector collector(wanted);
  collector.refresh();
  EXPECT_EQ(collector.snapshot().processes.size(), 1u);
  EXPECT_EQ(collector.directories(),
            (std::vector<std::string>{root + "/run/ttmem", own, root + "/dev/shm/ttmem-4711"}));
  ASSERT_EQ(collector.unreadable().size(), 1u);
  EXPECT_NE(collector.unreadable()[0].error.message.find("4711"), std::string::npos);
  ::setenv("TTMEM_DIR", own.c_str(), 1);
  collector.refresh();
  EXPECT_EQ(collector.directories(), std::vector<std::string>{own});
  ::unsetenv("TTMEM_DIR");
}

}  // namespace
}  // namespace ttmem::collect
