// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Readers against the real recorder in a process that never rests. Its operations follow a rule, so
// the state after any number of them can be worked out and compared.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "segment/reader.hpp"
#include "support/devices.hpp"
#include "support/temporary_directory.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::collect {
namespace {

using segment::Kind;
using segment::Meta;
using segment::Payload;
using support::Child;
using support::TemporaryDirectory;

constexpr std::uint64_t kPlaces = 400;

// Operation i frees what stands in its place, or puts buffer i + 1 there.
std::uint64_t place_of(std::uint64_t operation) { return operation * 7919 % kPlaces; }
std::uint64_t address_of(std::uint64_t id) { return id * 64; }
std::uint64_t requested_of(std::uint64_t id) { return id * 3 + 1; }
std::uint64_t block_of(std::uint64_t id) { return (id % 1000 + 1) * 64; }

// The places after so many operations.
class Rule {
 public:
  void advance_to(std::uint64_t operations) {
    for (; done_ < operations; ++done_) {
      std::uint64_t& place = places_[place_of(done_)];
      place = place == 0 ? done_ + 1 : 0;
    }
  }
  std::map<std::uint64_t, std::uint64_t> live() const {  // id -> block
    std::map<std::uint64_t, std::uint64_t> live;
    for (const std::uint64_t id : places_) {
      if (id != 0) live[id] = block_of(id);
    }
    return live;
  }

 private:
  std::uint64_t places_[kPlaces] = {};
  std::uint64_t done_ = 0;
};

// One device, and an allocator of its DRAM.
ttmem_allocator_t open_allocator(const std::string& directory) {
  ::setenv("TTMEM_DIR", directory.c_str(), 1);
  return support::open_dram_on(support::open_device(0xABC));
}

// Runs in the child. `done` counts operations that are complete.
void record_for_ever(const std::string& directory, std::atomic<std::uint64_t>& done,
                     const std::function<void()>& ready) {
  const ttmem_allocator_t handle = open_allocator(directory);
  ready();
  std::uint64_t places[kPlaces] = {};
  for (std::uint64_t i = 0;; ++i) {
    std::uint64_t& place = places[place_of(i)];
    if (place != 0) {
      ttmem_buffer_freed(handle, TTMEM_SPACE_DRAM, place);
      place = 0;
    } else {
      ttmem_buffer buffer{};
      buffer.id = place = i + 1;
      buffer.address = address_of(place);
      buffer.requested = requested_of(place);
      buffer.block = block_of(place);
      buffer.allocator = handle;
      ttmem_buffer_allocated(&buffer);
    }
    done.store(i + 1, std::memory_order_release);
  }
}

// Takes slots as they come and notices any that mixes two buffers.
class Checker : public segment::SlotSink {
 public:
  void on_slot(std::uint32_t index, const Payload& payload) override {
    slots_.erase(index);
    if (!Meta::live(payload.meta)) return;
    const std::uint64_t id = payload.id;
    const bool whole = Meta::kind(payload.meta) == Kind::kBuffer && payload.a == address_of(id) &&
                       payload.b == requested_of(id) && Meta::block(payload.meta) == block_of(id);
    if (!whole) ++torn;
    slots_[index] = {id, Meta::block(payload.meta)};
  }
  void on_launches(std::uint32_t, const Payload&) override {}
  std::map<std::uint64_t, std::uint64_t> live() const {
    std::map<std::uint64_t, std::uint64_t> live;
    for (const auto& [index, buffer] : slots_) live.insert(buffer);
    return live;
  }
  std::uint64_t torn = 0;

 private:
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> slots_;
};

class AgainstTheRecorder : public ::testing::Test {
 protected:
  AgainstTheRecorder() {
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    done_ = new (page) std::atomic<std::uint64_t>(0);
  }
  ~AgainstTheRecorder() override { ::munmap(done_, 4096); }

  segment::Reader open() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      auto reader = segment::Reader::open(entry.path(), ::geteuid());
      EXPECT_TRUE(reader) << reader.error().message;
      return std::move(*reader);
    }
    throw std::runtime_error("the recorder made no segment");
  }
  // Until so many more operations are done: the recorder must get a turn.
  void wait_for(std::uint64_t operations) const {
    const std::uint64_t wanted = done_->load() + operations;
    while (done_->load() < wanted) ::usleep(20);
  }
  TemporaryDirectory directory_;
  std::atomic<std::uint64_t>* done_;
};

TEST_F(AgainstTheRecorder, EveryStateIsTheOneAfterItsEvent) {
  Child child([&](const auto& ready) { record_for_ever(directory_.path(), *done_, ready); });
  segment::Reader follower = open();
  const std::uint64_t before = follower.header().head;
  child.go_on();
  Checker seen;
  Rule rule;
  std::uint64_t resynchronised = 0, followed = 0;
  for (int look = 0; look < 400; ++look) {
    wait_for(look % 20 == 0 ? 2 * segment::kEventCapacity : 1);
    ASSERT_FALSE(follower.refresh());
    segment::TableUpdate update;
    ASSERT_TRUE(follower.update_table(seen, update));
    ++(update.table_read ? resynchronised : followed);
    if (!update.settled) continue;  // overrun at every attempt: said, not guessed
    ASSERT_EQ(update.unsettled, 0u);
    ASSERT_GE(update.event, before);
    rule.advance_to(update.event - before);
    ASSERT_EQ(seen.live(), rule.live()) << "after event " << update.event;
    ASSERT_EQ(seen.torn, 0u);
  }
  EXPECT_GE(resynchronised, 10u) << "the ring was overrun every twentieth time";
  EXPECT_GE(followed, 10u);
}

TEST_F(AgainstTheRecorder, AFirstLookAtABusyTable) {
  Child child([&](const auto& ready) { record_for_ever(directory_.path(), *done_, ready); });
  const std::uint64_t before = open().header().head;
  child.go_on();
  Rule rule;
  unsigned settled = 0;
  for (int look = 0; look < 200; ++look) {
    wait_for(1);
    segment::Reader reader = open();
    Checker seen;
    segment::TableUpdate update;
    ASSERT_TRUE(reader.update_table(seen, update));
    ASSERT_EQ(seen.torn, 0u);
    if (!update.settled) continue;
    ++settled;
    rule.advance_to(update.event - before);
    ASSERT_EQ(seen.live(), rule.live()) << "after event " << update.event;
  }
  EXPECT_GT(settled, 0u);
}

TEST_F(AgainstTheRecorder, KilledAtAnyMoment) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    done_->store(0);
    Child child([&](const auto& ready) { record_for_ever(directory_.path(), *done_, ready); });
    segment::Reader reader = open();
    const std::uint64_t before = reader.header().head;
    child.go_on();
    const std::uint64_t wanted = random() % 20000;
    while (done_->load() < wanted) ::usleep(50);
    child.kill();
    const std::uint64_t logged = done_->load();

    Options options;
    options.directories = {directory_.path()};
    Collector collector(options);
    collector.refresh();
    ASSERT_EQ(collector.snapshot().processes.size(), 1u);
    const ledger::ProcessView& process = collector.snapshot().processes[0];
    EXPECT_EQ(process.ended, ledger::Ended::kDied);
    EXPECT_EQ(process.tracking.unsettled, 0u);
    std::map<std::uint64_t, std::uint64_t> found;
    collector.holdings(
        [&](const ledger::HoldingView& holding) { found[holding.id] = holding.block.value_or(0); });
    Rule rule;
    rule.advance_to(logged);
    const auto without = rule.live();
    rule.advance_to(logged + 1);
    ASSERT_TRUE(found == without || found == rule.live()) << "killed after operation " << logged;
    ASSERT_GE(process.events + 1, before + logged);
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      std::filesystem::remove(entry.path());
    }
  }
}

// Audits and anomalies change what a reader must say, but are no events.
TEST(RecorderChanges, AreNoticedWithoutAnEvent) {
  const TemporaryDirectory directory;
  Options options;
  options.directories = {directory.path()};
  Collector collector(options);
  const auto tracking = [&] {
    collector.refresh();
    return collector.snapshot().processes.at(0).tracking;
  };

  const ttmem_allocator_t allocator = open_allocator(directory.path());
  EXPECT_EQ(tracking().exact, std::nullopt);
  ttmem_audited(allocator, TTMEM_SPACE_DRAM, 0, 0);
  EXPECT_EQ(tracking().exact, true);
  ttmem_audited(allocator, TTMEM_SPACE_DRAM, 0, 100);
  EXPECT_EQ(tracking().exact, false);
  EXPECT_EQ(tracking().difference_bytes, -1200) << "100 in each of 12 banks";

  EXPECT_EQ(tracking().anomalies[TTMEM_ANOMALY_UNKNOWN_FREE], 0u);
  ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, 77);
  EXPECT_EQ(tracking().anomalies[TTMEM_ANOMALY_UNKNOWN_FREE], 1u);
}

}  // namespace
}  // namespace ttmem::collect
