// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One file, made to hurt, beside the honest one of another process: a look ends soon, takes little
// memory, says which file it gave up, and tells of the honest process what it always tells.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "segment/segment_builder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Space;
using segment::BlobKind;
using support::buffer_payload;
using support::Child;
using support::SegmentBuilder;
using support::TemporaryDirectory;

constexpr std::uint64_t kHonestBlock = 4096;
constexpr std::uint64_t kHonestBytes = 12 * kHonestBlock;  // twelve banks
constexpr double kLookSeconds = 5;                         // of the processor, on a slow machine
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
    Options options;
    options.directories = {directory_.path()};
    options.events = true;
    collector_ = std::make_unique<Collector>(options);
    std::optional<MemoryLimit> limit;
    if (!support::kSanitized) limit.emplace(256 * kMegabyte);
    const std::clock_t start = std::clock();
    for (int i = 0; i < 2; ++i) {
      collector_->refresh();
      EXPECT_EQ(honest_bytes(), kHonestBytes);
      ask_everything();
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 2 * kLookSeconds);
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
  builder.add_usual_device();
  builder.header().failure_count = 0xFFFFFFFF;
  builder.flush();
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

// The mask of a set covers the whole grid of 256 by 256 that a set of cores can name.
TEST_F(Hostile, ListsOfAddressesOnEveryCoreThatCanBeNamed) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  const std::uint32_t all =
      builder.add_blob(BlobKind::kCores, std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 255, 255});
  const std::uint32_t chip =
      builder.add_blob(BlobKind::kCores, std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 31, 31});
  for (std::uint32_t i = 0; i < 4000; ++i) {
    support::Payload payload = buffer_payload(i + 1, 102400 + 64 * i, 64, 1);
    payload.meta |= std::uint64_t{segment::kFlagPerCore} << support::Meta::kFlagsShift;
    payload.a = 0;
    payload.cores = i % 2 == 0 ? all : chip;
    builder.put(i, payload);
  }
  look();
}

TEST_F(Hostile, ManyGroupsOnManyDevices) {
  SegmentBuilder builder(name(2));
  builder.lock();
  std::vector<std::uint16_t> devices;
  for (std::uint32_t i = 1; i < segment::kMaxDevices; ++i) {
    devices.push_back(static_cast<std::uint16_t>(builder.add_device(i)));
  }
  builder.add_allocator(builder.add_set(devices));
  std::vector<segment::Slot> slots;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    support::Payload payload = buffer_payload(i + 1, 64 * i, 64);
    payload.cores = i + 1;
    slots.push_back({2, payload});
  }
  builder.put_table(slots);
  look();
  EXPECT_TRUE(is_given_up(builder));
}

// Every record of a program counts all that the program has: turn by turn, they cost the square.
TEST_F(Hostile, ProgramsWhoseKernelsComeTurnByTurn) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  std::vector<segment::Slot> slots;
  for (std::uint32_t i = 0; i < 400'000; ++i) {
    support::Payload payload{};
    const bool program = i < 80;
    const auto kind = program ? segment::Kind::kProgram : segment::Kind::kKernel;
    payload.meta = support::Meta::pack(kind, true, 0, 0, program ? segment::kFlagLoaded : 0u, 0);
    payload.id = 1 + i % 80;
    payload.set = 1;
    slots.push_back({2, payload});
  }
  builder.put_table(slots);
  look();
}

TEST_F(Hostile, SlotsThatNeverSettle) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  std::vector<segment::Slot> slots(300'000, {3, buffer_payload(1, 64, 64)});
  builder.put_table(slots);
  look();
  EXPECT_TRUE(is_given_up(builder));
}

TEST_F(Hostile, WhatWasGivenUpIsNotReadAgainAtOnce) {
  SegmentBuilder builder(name(2));
  builder.lock();
  builder.add_usual_device();
  Options options;
  options.directories = {directory_.path()};
  Collector collector(options);
  collector.refresh();
  ASSERT_EQ(collector.snapshot().processes.size(), 1u);
  const std::vector<segment::Slot> slots(100, {3, buffer_payload(1, 64, 64)});
  builder.put_table(slots);
  builder.header().head = 1'000'000;  // the events are lost: the table is read again
  builder.flush();
  const auto given_up = std::chrono::steady_clock::now();
  collector.refresh();
  ASSERT_EQ(collector.unreadable().size(), 1u);
  const std::vector<segment::Slot> good(100, {2, buffer_payload(1, 64, 64)});
  builder.put_table(good);
  collector.refresh();
  const auto since = std::chrono::steady_clock::now() - given_up;
  if (since < std::chrono::seconds(1)) {
    EXPECT_EQ(collector.unreadable().size(), 1u) << "read again at once";
  }
  for (int i = 0; i < 100 && !collector.unreadable().empty(); ++i) {
    ::usleep(100'000);
    collector.refresh();
  }
  EXPECT_TRUE(collector.unreadable().empty()) << "it is well again, and never read again";
}

}  // namespace
}  // namespace ttmem::collect
