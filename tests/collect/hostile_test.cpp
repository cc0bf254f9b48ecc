// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One file, made to hurt, beside the honest one of another process: a look ends, takes little
// memory, says which file it gave up, and tells of the honest process what it always tells. How
// soon it ends is measured in bench/hostile.cpp.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/clock.hpp"
#include "collect/collector.hpp"
#include "collect/hostile_files.hpp"
#include "segment/reader_records.hpp"
#include "segment/segment_builder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

// How often this process gave the processor away, and so had to wait until it got it back.
static unsigned given_away = 0;
extern "C" int sched_yield() noexcept {
  ++given_away;
  return 0;
}

namespace ttmem::collect {
namespace {

using ledger::Space;
using support::buffer_payload;
using support::Child;
using support::SegmentBuilder;
using support::TemporaryDirectory;

constexpr std::uint64_t kHonestBlock = 4096;
constexpr std::uint64_t kHonestBytes = 12 * kHonestBlock;  // twelve banks
constexpr std::uint64_t kMegabyte = 1ull << 20;

// Address space, and so everything that can be asked for, is limited while a test looks.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = in_use() + more;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static std::uint64_t in_use() {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * 4096;
  }
  rlimit before_{};
};

class Hostile : public ::testing::Test {
 protected:
  std::string name(unsigned number) const {
    return directory_ / fmt::format("ttmem-{}-1-{:016x}", 100 + number, number);
  }
  // Looks twice, at everything, and checks what was seen of the honest process.
  void look() {
    Child honest([&](const auto& ready) {
      SegmentBuilder builder(name(1));
      builder.lock();
      builder.add_usual_device(0xBEEF);
      builder.put(0, buffer_payload(1, 64, kHonestBlock));
      ready();
    });
    start(true);
    std::optional<MemoryLimit> limit;
    if (!support::kSanitized) limit.emplace(256 * kMegabyte);
    for (int i = 0; i < 2; ++i) {
      collector_->refresh();
      EXPECT_EQ(honest_bytes(), kHonestBytes);
      ask_everything();
    }
  }
  void start(bool events = false) {
    Options options;
    options.directories = {directory_.path()};
    options.events = events;
    collector_ = std::make_unique<Collector>(options);
  }
  // A look gives one owner only so much of the processor's time, in which a slow machine gets
  // through a few files: what comes, comes at one of many.
  template <typename Condition>
  bool looks_until(Condition&& condition) {
    constexpr int kMostLooks = 1000;
    for (int i = 0; i < kMostLooks && !condition(); ++i) collector_->refresh();
    return condition();
  }
  std::uint64_t honest_bytes() const {
    for (const ledger::DeviceView& device : collector_->snapshot().devices) {
      if (device.unique_id == 0xBEEF) return device.figures.space(Space::kDram).taken.value_or(0);
    }
    return 0;
  }
  void ask_everything() const {
    collector_->holdings([](const ledger::HoldingView&) {});
    collector_->programs();
    collector_->take_events();
    for (const ledger::DeviceView& device : collector_->snapshot().devices) {
      collector_->cores(device.id, true);
    }
  }
  bool is_given_up(const SegmentBuilder& builder) const {
    for (const Unreadable& entry : collector_->unreadable()) {
      if (entry.path == builder.path()) return true;
    }
    return false;
  }
  TemporaryDirectory directory_;
  std::unique_ptr<Collector> collector_;
};

TEST_F(Hostile, ANumberOfFailuresThatWraps) {
  SegmentBuilder builder(name(2));
  builder.lock();
  support::wrapping_failures(builder);
  look();
}

TEST_F(Hostile, RecordsOfFourGigabytesEach) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  segment::Section& devices = builder.header().sections[0];
  segment::Section& table = builder.header().sections[9];
  devices.offset = segment::kMaxFileBytes / 2;
  devices.max_bytes = segment::kMaxFileBytes / 2;
  devices.entry_bytes = 0xFFFFFFF8;
  table.max_bytes = 1 << 20;
  builder.header().device_count = 100;
  builder.flush();
  look();
  EXPECT_EQ(collector_->snapshot().processes.size(), 1u);
}

TEST_F(Hostile, EventsOfSlotsFarBeyondTheTable) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  Options options;
  options.directories = {directory_.path()};
  Collector early(options);
  early.refresh();
  for (std::uint32_t i = 1; i < 4096; ++i) {
    const std::uint64_t slots = builder.header().table_slots;
    builder.put(i * 60'000, buffer_payload(i, 64 * i, 64));
    builder.header().table_slots = slots;
  }
  builder.flush();
  const MemoryLimit limit(64 * kMegabyte);
  early.refresh();
  EXPECT_TRUE(early.snapshot().devices.empty() ||
              early.snapshot().devices[0].figures.space(Space::kDram).taken == 0u);
}

TEST_F(Hostile, ListsOfAddressesOnEveryCoreThatCanBeNamed) {
  SegmentBuilder builder(name(2));
  builder.lock();
  support::lists_on_every_core(builder);
  look();
  EXPECT_TRUE(is_given_up(builder));
}

// Each of them is just below what one process may cost.
TEST_F(Hostile, ManyFilesThatAreExpensiveTogether) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to others";
  constexpr unsigned kFiles = 120;
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  std::vector<std::unique_ptr<SegmentBuilder>> builders;
  for (unsigned number = 2; number < 2 + kFiles; ++number) {
    const auto& builder = builders.emplace_back(std::make_unique<SegmentBuilder>(name(number)));
    builder->lock();
    support::give_to_stranger(*builder);
    support::expensive_with_others(*builder);
  }
  start();
  ASSERT_TRUE(looks_until([this] { return collector_->snapshot().processes.size() == kFiles; }));
  {
    std::optional<MemoryLimit> limit;
    if (!support::kSanitized) limit.emplace(256 * kMegabyte);
    collector_->cores(collector_->snapshot().devices.at(0).id, true);
  }
  EXPECT_TRUE(looks_until([this] { return !collector_->unreadable().empty(); }))
      << "what was left out is not named";
}

// They are told whole, by a reader who does not trust their owner.
TEST_F(Hostile, AnL1FullOfBuffersIsNoAttack) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to others";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  SegmentBuilder builder(name(2));
  builder.lock();
  support::give_to_stranger(builder);
  support::l1_full_of_buffers(builder);
  start();
  collector_->refresh();
  ASSERT_EQ(collector_->snapshot().devices.size(), 1u);
  const auto cores = collector_->cores(collector_->snapshot().devices[0].id, true);
  ASSERT_EQ(cores.size(), 64u);
  for (const ledger::CoreView& core : cores) {
    EXPECT_EQ(core.buffers, support::kMostL1Buffers * support::kL1BufferBytes);
  }
  collector_->refresh();
  EXPECT_TRUE(collector_->unreadable().empty());
}

TEST_F(Hostile, ManyGroupsOnManyDevices) {
  SegmentBuilder builder(name(2));
  builder.lock();
  support::groups_on_many_devices(builder);
  look();
  EXPECT_TRUE(is_given_up(builder));
}

TEST_F(Hostile, ProgramsWhoseKernelsComeTurnByTurn) {
  SegmentBuilder builder(name(2));
  builder.lock();
  support::kernels_turn_by_turn(builder);
  look();
}

TEST_F(Hostile, SlotsThatNeverSettle) {
  SegmentBuilder builder(name(2));
  builder.lock();
  support::slots_that_never_settle(builder);
  look();
  EXPECT_TRUE(is_given_up(builder));
}

// A writer in the middle of a record is waited for, but not one that is in the middle of all.
TEST_F(Hostile, RecordsThatNeverSettleKeepNobodyWaiting) {
  std::vector<std::unique_ptr<SegmentBuilder>> builders;
  for (unsigned number = 2; number < 10; ++number) {
    const auto& builder = builders.emplace_back(std::make_unique<SegmentBuilder>(name(number)));
    builder->lock();
    builder->add_usual_device();
    for (unsigned i = 0; i < 40; ++i) {
      const std::uint64_t odd = 3;
      const std::uint32_t index = builder->add_device(i);
      builder->write(segment::kDevicesOffset + index * sizeof(segment::Device), &odd, sizeof odd);
    }
  }
  start();
  given_away = 0;
  collector_->refresh();
  EXPECT_EQ(given_away, segment::Patience::kMost);
}

TEST_F(Hostile, WhatWasGivenUpIsReadAgainAfterAPauseThatGrows) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  const std::vector<segment::Slot> bad(100, {3, buffer_payload(1, 64, 64)});
  const std::vector<segment::Slot> good(100, {2, buffer_payload(1, 64, 64)});
  start();
  Moment now = Moment::now();
  const auto readable_after = [&](std::uint64_t ms) {
    now.monotonic_ns += ms * 1'000'000;
    now.wall_ns += ms * 1'000'000;
    collector_->refresh(now);
    return collector_->unreadable().empty();
  };
  ASSERT_TRUE(readable_after(0));
  ASSERT_EQ(collector_->snapshot().processes.size(), 1u);
  builder.put_table(bad);
  builder.header().head = 1'000'000;  // the events are lost: the table is read again
  builder.flush();
  EXPECT_FALSE(readable_after(0));
  EXPECT_FALSE(readable_after(1100)) << "it is as bad as before";
  builder.put_table(good);
  EXPECT_FALSE(readable_after(1100)) << "the second pause is longer than the first";
  EXPECT_TRUE(readable_after(1000)) << "it is well again, and never read again";
}

}  // namespace
}  // namespace ttmem::collect
