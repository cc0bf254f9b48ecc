// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/failures.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

using namespace std::string_literals;

class FailuresTest : public Recording {
 protected:
  FailuresTest() : Recording(2) {}
  std::uint32_t fail(ttmem_set_t on, const char* message = "Out of Memory") {
    ttmem_failure failure = {};
    failure.struct_size = sizeof failure;
    failure.kind = TTMEM_FAILURE_OUT_OF_MEMORY;
    failure.message = message;
    failure.requested = 1 << 20;
    failure.set = on;
    failure.allocator = allocator;
    failure.operation = 3;
    return recorder->failures.failed(failure, 4);
  }
  // The ids of the live entries of a failure's list.
  std::set<std::uint64_t> listed(const segment::Failure& failure) {
    std::set<std::uint64_t> ids;
    const TinyReader& file = reader();
    for (std::uint32_t i = 0; i < failure.list_slots; ++i) {
      const auto entry = file.record<segment::Slot>(
          segment::kListsOffset, static_cast<std::uint32_t>(failure.list_first) + i);
      if (Meta::live(entry.payload.meta)) {
        EXPECT_TRUE(ids.insert(entry.payload.id).second);
      }
    }
    return ids;
  }
  std::unique_ptr<segment::Failure> record(std::uint32_t index) {
    return std::make_unique<segment::Failure>(
        reader().record<segment::Failure>(segment::kFailuresOffset, index));
  }
};

TEST_F(FailuresTest, TheListHasEveryBufferOfTheFailedSpace) {
  for (std::uint64_t id = 0; id < 6000; ++id) allocate(buffer(id, id + 1));
  ttmem_buffer elsewhere = buffer(7000, 64);
  elsewhere.space = TTMEM_SPACE_L1;
  allocate(elsewhere);
  release(17);
  fail(set);
  const auto seen = record(0);
  EXPECT_EQ(seen->list_state, static_cast<std::uint32_t>(segment::ListState::kComplete));
  const auto ids = listed(*seen);
  EXPECT_EQ(ids.size(), 5999u);
  EXPECT_FALSE(ids.contains(17));
  EXPECT_FALSE(ids.contains(7000));
}

TEST_F(FailuresTest, ListsOfKeptFailuresDoNotOverlapAndRoomIsUsedAgain) {
  std::uint64_t highest = 0;
  for (std::uint64_t round = 1; round <= 40; ++round) {
    for (std::uint64_t id = 0; id < 50; ++id) allocate(buffer(round * 100 + id, 64));
    const std::uint32_t number = fail(set);
    std::set<std::uint64_t> taken;
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i < std::min(number, segment::kMaxFailures); ++i) {
      const auto kept = record(i);
      highest = std::max(highest, kept->list_first + kept->list_slots);
      for (std::uint32_t at = 0; at < kept->list_slots; ++at) taken.insert(kept->list_first + at);
      sum += kept->list_slots;
      EXPECT_EQ(listed(*kept).size(), kept->number * 50u);
    }
    EXPECT_EQ(taken.size(), sum);
  }
  EXPECT_LT(highest, 7u * 40 * 50) << "all of them would be 20 times 41 times 50";
}

TEST_F(FailuresTest, ThePictureShowsTheLargestFirst) {
  for (std::uint64_t id = 1; id <= 5; ++id) allocate(buffer(id, id * 1000));
  release(2);
  EXPECT_EQ(fail(set), 1u);
  const auto seen = record(0);
  EXPECT_STREQ(seen->message, "Out of Memory");
  EXPECT_EQ(seen->operation, 3u);
  EXPECT_EQ(seen->origin, 4u);
  ASSERT_EQ(seen->picture_slots, 4u);
  EXPECT_EQ(seen->truncated, 0u);
  EXPECT_EQ(seen->picture[0].payload.id, 5u);
  EXPECT_EQ(seen->picture[3].payload.id, 1u);
  EXPECT_EQ(seen->version % 2, 0u);
  release(5);
  EXPECT_EQ(record(0)->picture[0].payload.id, 5u);  // frozen
  EXPECT_EQ(reader().header().failure_count, 1u);
  EXPECT_EQ(reader().notes(segment::Note::kFailed), 1u);
}

TEST_F(FailuresTest, OnlyWhatSharesADeviceIsShown) {
  const ttmem_set_t second = set_of({chips[1]});
  const ttmem_allocator_t other = open_allocator(second);
  ttmem_buffer elsewhere = buffer(1, 1000);
  elsewhere.allocator = other;
  allocate(elsewhere);
  allocate(buffer(2, 10));
  fail(set_of({chips[0]}));
  ASSERT_EQ(record(0)->picture_slots, 1u);
  EXPECT_EQ(record(0)->picture[0].payload.id, 2u);
}

TEST_F(FailuresTest, WhoKnowsNoDeviceMeansTheOnlyOneThatIsOpen) {
  allocate(buffer(2, 10));
  ttmem_failure failure = {};
  failure.struct_size = sizeof failure;
  failure.kind = TTMEM_FAILURE_OTHER;
  EXPECT_EQ(recorder->failures.failed(failure, 0), 1u);
  EXPECT_EQ(record(0)->allocator, allocator);
  EXPECT_EQ(record(0)->set, set);
  open_allocator(set_of({chips[1]}));
  EXPECT_EQ(recorder->failures.failed(failure, 0), 2u);
  EXPECT_EQ(record(1)->allocator, 0u) << "there are two";
}

TEST_F(FailuresTest, ProgramsComeWithTheirRanges) {
  ttmem_range range = {};
  range.size = 1 << 20;
  range.cores = cores(0, 0, 7, 7);
  ttmem_program program = {};
  program.set = set;
  program.id = 42;
  program.range_count = 1;
  program.ranges = &range;
  recorder->programs.registered(program, {});
  allocate(buffer(1, 10));
  fail(set);
  const auto seen = record(0);
  ASSERT_EQ(seen->picture_slots, 3u);
  EXPECT_EQ(Meta::kind(seen->picture[0].payload.meta), Kind::kProgram);
  EXPECT_EQ(Meta::kind(seen->picture[1].payload.meta), Kind::kRange);
  EXPECT_EQ(Meta::kind(seen->picture[2].payload.meta), Kind::kBuffer);
}

TEST_F(FailuresTest, TheFirstAndTheLastFourAreKept) {
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(fail(set, std::to_string(i).c_str()), i);
  std::string kept;
  for (std::uint32_t i = 0; i < segment::kMaxFailures; ++i) kept += record(i)->message + " "s;
  EXPECT_EQ(kept, "1 2 3 4 9 10 7 8 ");
}

TEST_F(FailuresTest, MoreThanAPictureHoldsIsSaid) {
  for (std::uint64_t id = 0; id < 6000; ++id) allocate(buffer(id, id + 1));
  fail(set, std::string(5000, 'x').c_str());
  const auto seen = record(0);
  EXPECT_EQ(seen->picture_slots, segment::kMaxPictureSlots);
  EXPECT_EQ(seen->truncated, 1u);
  EXPECT_EQ(seen->picture[0].payload.id, 5999u);
  EXPECT_EQ(seen->picture[4095].payload.id, 6000u - 4096);
  EXPECT_EQ(std::string(seen->message).size(), segment::kMaxMessageBytes - 1);
}

TEST_F(FailuresTest, ThePictureIsOneStateWhileOthersWork) {
  for (std::uint64_t id = 0; id < 100; ++id) allocate(buffer(id, 1000));
  std::atomic<bool> stop = false;
  // Whenever one of the pair is free the other is held: every state has 101 buffers.
  allocate(buffer(1000, 500));
  std::thread other([&] {
    for (std::uint64_t i = 1000; !stop; ++i) {
      allocate(buffer(i + 1, 500));
      release(i);
    }
  });
  for (int i = 0; i < 50; ++i) {
    const std::uint32_t number = fail(set);
    const auto seen = record(segment::failure_place(number));
    if (seen->truncated == 0) {
      EXPECT_GE(seen->picture_slots, 101u);
      EXPECT_LE(seen->picture_slots, 102u);
    }
    if (seen->list_state == static_cast<std::uint32_t>(segment::ListState::kComplete)) {
      EXPECT_EQ(listed(*seen).size(), seen->picture_slots);
    }
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace ttmem::client
