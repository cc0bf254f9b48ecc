// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Several users in one directory: a file speaks for the processes of its owner, and the kernel says
// whose both are. Needs root, who can be two users at once.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "collect/gc.hpp"
#include "collect/numbered_chips.hpp"
#include "segment/limits.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Space;
using support::buffer_payload;
using support::Child;
using support::SegmentBuilder;
using support::TemporaryDirectory;

constexpr uid_t kMallory = 65534, kVictim = 4711;

class Owners : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can act for two users";
    ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  }
  std::string name(unsigned number) const {
    return directory_ / fmt::format("ttmem-{}-1-{:016x}", 100 + number, number);
  }
  // A process of that user with one buffer in DRAM.
  Child process_of(uid_t user, unsigned number) {
    return Child([&, user, number](const auto& ready) {
      if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) ::_exit(1);
      SegmentBuilder builder(name(number));
      hold(builder);
      ready();
    });
  }
  static void hold(SegmentBuilder& builder) {
    builder.lock();
    builder.add_usual_device();
    builder.put(0, buffer_payload(1, 64, 1000));
  }
  static void give_to(uid_t user, const SegmentBuilder& builder) {
    ASSERT_EQ(::fchown(builder.descriptor(), user, user), 0);
  }
  void look() {
    collector_ = std::make_unique<Collector>(Options{.directories = {directory_.path()}});
    collector_->refresh();
  }
  const ledger::ProcessView* process(unsigned number) const {
    const std::string file = name(number).substr(directory_.path().size() + 1);
    for (const ledger::ProcessView& each : collector_->snapshot().processes) {
      if (each.segment == file) return &each;
    }
    return nullptr;
  }
  std::uint64_t taken() const {
    const auto& devices = collector_->snapshot().devices;
    return devices.empty() ? 0 : devices[0].figures.space(Space::kDram).taken.value_or(0);
  }
  std::size_t problems_with(const std::string& words) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        collector_->snapshot().unreadable,
        [&](const std::string& line) { return line.find(words) != std::string::npos; }));
  }
  TemporaryDirectory directory_;
  std::unique_ptr<Collector> collector_;
};

TEST_F(Owners, EverybodysOwnProcessesCount) {
  Child one = process_of(kMallory, 1);
  Child two = process_of(kVictim, 2);
  look();
  ASSERT_TRUE(process(1) != nullptr && process(2) != nullptr);
  EXPECT_TRUE(process(1)->alive);
  EXPECT_TRUE(process(2)->alive);
  EXPECT_EQ(process(2)->uid, kVictim);
  EXPECT_EQ(taken(), 2 * 12000u);
}

// Geometry is a claim too. Two honest users agree on the chip; the third one's is of another size.
TEST_F(Owners, NobodyChangesTheSizeOfAChipOrExceedsIt) {
  Child one = process_of(kVictim, 1);
  Child two = process_of(kVictim + 1, 2);
  Child liar([&](const auto& ready) {
    if (::setresuid(kMallory, kMallory, kMallory) != 0) ::_exit(1);
    SegmentBuilder builder(name(3));
    builder.lock();
    builder.add_usual_device();
    builder.resize_dram(~0ull / 12 + 1);
    builder.put(0, buffer_payload(1, 64, segment::kMaxBlockBytes));
    ready();
  });
  look();
  ASSERT_TRUE(process(1) != nullptr && process(2) != nullptr && process(3) != nullptr);
  EXPECT_EQ(taken(), 2 * 12000u);
  const ledger::DeviceView& chip = collector_->snapshot().devices.at(0);
  EXPECT_EQ(chip.figures.space(Space::kDram).capacity, 12ull << 30);
  EXPECT_EQ(chip.processes, 2u);
  EXPECT_EQ(process(1)->devices.at(0).contradiction, ledger::Contradiction::kNone);
  EXPECT_EQ(process(3)->devices.at(0).contradiction, ledger::Contradiction::kDram);
  EXPECT_GT(process(3)->devices.at(0).figures.space(Space::kDram).taken, 12ull << 30);
  EXPECT_EQ(collector_->banks(chip.id).at(0).blocks.size(), 2u);
}

// The victim is this very process; the claim has its pid, start and name, and a lock.
TEST_F(Owners, AClaimToAnothersProcessIsShownAndNotCounted) {
  SegmentBuilder own(name(1));
  hold(own);
  SegmentBuilder claim(name(2));
  hold(claim);
  give_to(kMallory, claim);
  look();
  ASSERT_TRUE(process(1) != nullptr && process(2) != nullptr);
  EXPECT_TRUE(process(1)->alive);
  EXPECT_FALSE(process(2)->alive);
  EXPECT_EQ(process(2)->uid, kMallory);
  EXPECT_EQ(taken(), 12000u);
  EXPECT_EQ(problems_with("it claims to be process"), 1u);
  EXPECT_EQ(problems_with("nobody"), 1u) << "says whose it is";
}

// A program of 896 KiB in all, loaded.
void load_program(SegmentBuilder& builder) {
  const std::uint32_t cores =
      builder.add_list<std::uint8_t>(segment::BlobKind::kCores, {0, 0, 0, 0, 0, 0, 3, 3});
  segment::Payload kernel{}, program{};
  kernel.meta = segment::Meta::pack(segment::Kind::kKernel, true, 0, 1, 0, 0);
  program.meta = segment::Meta::pack(segment::Kind::kProgram, true, 0, 1, segment::kFlagLoaded, 0);
  kernel.id = program.id = 5;
  kernel.b = 57344;
  kernel.cores = cores;
  program.set = 1;
  builder.put(1, kernel);
  builder.put(2, program);
}

TEST_F(Owners, WhoIsNotBelievedIsInNoTotalThatEventsTell) {
  SegmentBuilder claim(name(1)), other(name(2)), own(name(3));
  for (SegmentBuilder* each : {&claim, &other, &own}) hold(*each);
  give_to(kMallory, claim);
  give_to(kVictim, other);
  other.header().subject.pid_namespace = 1;  // where nobody can look
  other.header().writer = other.header().subject;
  other.resize_dram(1ull << 40);
  for (SegmentBuilder* each : {&claim, &other, &own}) load_program(*each);
  Collector collector(Options{.directories = {directory_.path()}, .events = true});
  collector.refresh();
  std::uint64_t most = 0;
  for (const ledger::EventView& event : collector.take_events()) {
    EXPECT_FALSE(name(1).ends_with(event.process->segment)) << "by the name of another's process";
    for (const auto& device : event.devices) most = std::max(most, device.kernels_footprint);
  }
  const ledger::DeviceFigures& chip = collector.snapshot().devices.at(0).figures;
  EXPECT_EQ(chip.kernels.total().footprint, 917504u);
  EXPECT_EQ(most, 917504u);
  EXPECT_EQ(chip.peak_basis, ledger::PeakBasis::kExact) << "it is that of one process alone";
}

TEST_F(Owners, NobodySpeaksForAnotherBySayingThatItWritesForHim) {
  SegmentBuilder ghost(name(1));
  hold(ghost);
  ghost.header().writer.pid += 1;  // "a daemon wrote this"
  ghost.header().subject.uid = 0;
  ghost.flush();
  give_to(kMallory, ghost);
  look();
  ASSERT_NE(process(1), nullptr);
  EXPECT_EQ(process(1)->uid, kMallory);
  EXPECT_FALSE(process(1)->alive);
  EXPECT_EQ(taken(), 0u);
}

TEST_F(Owners, RootSpeaksForAll) {
  Child client([](const auto& ready) {
    if (::setresuid(kVictim, kVictim, kVictim) != 0) ::_exit(1);
    ready();
  });
  SegmentBuilder served(name(1));
  hold(served);
  segment::Identity& subject = served.header().subject;
  subject.pid = client.pid();
  subject.start_ticks = 0;
  subject.uid = kVictim;
  served.flush();
  look();
  ASSERT_NE(process(1), nullptr);
  EXPECT_TRUE(process(1)->alive);
  EXPECT_EQ(process(1)->uid, kVictim);
}

// A namespace that has only root: the owner of the directory and the stranger look alike there.
TEST_F(Owners, WhoIsUnknownToTheReaderSpeaksForNobody) {
  SegmentBuilder ghost(name(1));
  hold(ghost);
  ghost.header().writer.pid += 1;
  ghost.header().subject.uid = 0;
  ghost.flush();
  give_to(kVictim + 1, ghost);
  ASSERT_EQ(::fchmod(ghost.descriptor(), 0644), 0);
  ASSERT_EQ(::chown(directory_.path().c_str(), kVictim, kVictim), 0);
  constexpr int kRight = 7, kNoNamespace = 8;
  const pid_t reader = ::fork();
  if (reader == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(kNoNamespace);
    std::ofstream("/proc/self/uid_map") << "0 0 1";
    look();
    const ledger::ProcessView* found = process(1);
    const bool right = found != nullptr && found->uid != 0 && !found->alive &&
                       found->user == "unknown" && taken() == 0;
    if (found) fmt::print(stderr, "uid {}, {}, {}\n", found->uid, found->user, found->alive);
    ::_exit(right ? kRight : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(reader, &status, 0), reader);
  if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no user namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), kRight);
}

TEST_F(Owners, AGhostOfTheFirstProcessIsGarbage) {
  {
    SegmentBuilder ghost(name(1));
    ghost.header().subject.pid = 1;
    ghost.header().subject.start_ticks = 0;
    ghost.flush();
    give_to(kMallory, ghost);
  }
  const GcReport report = collect_garbage({.directories = {directory_.path()}, .all = true});
  EXPECT_EQ(report.removed.size(), 1u);
  EXPECT_EQ(report.alive, 0u);
}

TEST_F(Owners, ManyDeadOfOneLeaveThoseOfOthers) {
  const auto make_dead = [&](uid_t user, unsigned number) {
    SegmentBuilder builder(name(number));
    builder.header().subject.start_ticks += 1;
    builder.header().writer = builder.header().subject;
    builder.flush();
    give_to(user, builder);
  };
  make_dead(kVictim, 0);
  for (unsigned i = 1; i < 3 * segment::kKeepDeadSegments; ++i) make_dead(kMallory, i);
  const GcReport report = collect_garbage({.directories = {directory_.path()}});
  EXPECT_TRUE(std::filesystem::exists(name(0))) << "another's black box was removed";
  EXPECT_EQ(report.kept.size(), segment::kKeepDeadSegments + 1);
}

// With few descriptors, and far more files of one user than there are descriptors.
TEST_F(Owners, AFloodOfFilesHidesNobody) {
  Child victim = process_of(kVictim, 1);
  for (unsigned i = 2; i < 300; ++i) {
    SegmentBuilder builder(name(i), support::Places::compact());
    give_to(kMallory, builder);
  }
  for (unsigned i = 300; i < 2000; ++i) {
    const std::string path = name(i);
    std::ofstream(path) << "nonsense";
    ASSERT_EQ(::chown(path.c_str(), kMallory, kMallory), 0);
  }
  // In a process of its own: not everybody may take such a limit back.
  const auto look_with_few = [&] {
    const rlimit few{128, 128};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) ::_exit(2);
    look();
    const ledger::ProcessView* found = process(1);
    EXPECT_TRUE(found && found->alive);
    EXPECT_EQ(taken(), 12000u);
    EXPECT_EQ(problems_with("files of nobody are left out"), 1u);
    EXPECT_LT(collector_->snapshot().unreadable.size(), 20u) << "named one by one";
    ::_exit(HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(look_with_few(), testing::ExitedWithCode(0), "");
}

// Every answer names all devices.
TEST_F(Owners, MadeUpDevicesOfOneUserAreBounded) {
  Child victim = process_of(kVictim, 9);
  std::vector<std::unique_ptr<SegmentBuilder>> files;
  for (unsigned number = 1; number <= 4; ++number) {
    SegmentBuilder& file = *files.emplace_back(std::make_unique<SegmentBuilder>(name(number)));
    give_to(kMallory, file);
    file.lock();
    file.header().subject.pid_namespace = 1;  // where nobody can look
    file.header().writer = file.header().subject;
    for (unsigned i = 1; i < segment::kMaxDevices; ++i) file.add_device(number << 16 | i);
  }
  look();
  EXPECT_EQ(collector_->snapshot().devices.size(), 2 * (segment::kMaxDevices - 1) + 1);
  EXPECT_EQ(problems_with("its owner has more than 512 devices"), 2u);
  EXPECT_EQ(taken(), 12000u);
  ASSERT_NE(process(9), nullptr);
  EXPECT_TRUE(process(9)->alive);
}

TEST_F(Owners, AWriterThatKnowsNoBootLivesByItsLock) {
  SegmentBuilder builder(name(1));
  hold(builder);
  segment::Identity& subject = builder.header().subject;
  std::fill(std::begin(subject.boot_id), std::end(subject.boot_id), std::uint8_t{0});
  subject.start_ticks = 0;
  subject.pid_namespace = 0;
  builder.header().writer = subject;
  builder.flush();
  look();
  ASSERT_NE(process(1), nullptr);
  EXPECT_TRUE(process(1)->alive);
}

// Both chips are the first one for those who opened them; the other one's comes first by its id.
TEST_F(Owners, NobodyTakesTheNumberOfAnothersChip) {
  Child victim = process_of(kVictim, 1);
  ::usleep(20'000);  // who comes later starts later
  Child other([&](const auto& ready) {
    if (::setresuid(kMallory, kMallory, kMallory) != 0) ::_exit(1);
    SegmentBuilder builder(name(2));
    builder.lock();
    builder.add_usual_device(1);
    builder.header().subject.start_ticks = 1;  // says that it was there before
    builder.header().subject.pid = -1;
    builder.header().writer = builder.header().subject;
    builder.flush();
    ready();
  });
  look();
  ASSERT_TRUE(process(1) != nullptr && process(2) != nullptr);
  EXPECT_EQ(process(1)->devices.at(0).id, 0u);
  EXPECT_EQ(process(2)->devices.at(0).id, 1u);
}

// A process that knows its chip by number alone is on the one that its user's others know by it.
TEST_F(Owners, NobodyPartsTheChipsOfAnother) {
  Child victim = process_of(kVictim, 1);
  Child by_number([&](const auto& ready) {
    if (::setresuid(kVictim, kVictim, kVictim) != 0) ::_exit(1);
    SegmentBuilder builder(name(2));
    builder.lock();
    builder.add_usual_device(numbered_chip(0));
    constexpr std::uint32_t kNoArch = 0;
    builder.write(
        segment::kDevicesOffset + sizeof(segment::Device) + offsetof(segment::Device, arch),
        &kNoArch, sizeof kNoArch);
    builder.put(0, buffer_payload(1, 64, 1000));
    ready();
  });
  ::usleep(20'000);  // who comes later starts later
  Child other([&](const auto& ready) {
    if (::setresuid(kMallory, kMallory, kMallory) != 0) ::_exit(1);
    SegmentBuilder builder(name(3));
    builder.lock();
    builder.add_usual_device(1);
    ready();
  });
  look();
  ASSERT_TRUE(process(1) != nullptr && process(2) != nullptr && process(3) != nullptr);
  EXPECT_EQ(process(2)->devices.at(0).unique_id, process(1)->devices.at(0).unique_id);
  EXPECT_EQ(taken(), 2 * 12000u);
}

}  // namespace
}  // namespace ttmem::collect
