// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/buffers.hpp"

#include <cerrno>
#include <random>
#include <thread>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

class Buffers1 : public Recording {};
class Buffers4 : public Recording {
 protected:
  Buffers4() : Recording(4) {}
};

TEST_F(Buffers1, ABufferIsOneSlotOneEventAndItsBytes) {
  ttmem_buffer made = buffer(7, 176128);
  made.requested = 2097152;
  made.layout = TTMEM_LAYOUT_INTERLEAVED;
  recorder->buffers.allocated(made, 12);
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 2113536u);  // 12 banks
  const auto found = reader().live(Kind::kBuffer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 7u);
  EXPECT_EQ(found[0].a, made.address);
  EXPECT_EQ(found[0].b, 2097152u);
  EXPECT_EQ(Meta::block(found[0].meta), 176128u);
  EXPECT_EQ(found[0].set, set);
  EXPECT_EQ(found[0].allocator, allocator);
  EXPECT_EQ(found[0].operation, 0u) << "its origin knows";
  EXPECT_EQ(found[0].origin, 12u);
  const auto last = reader().events().back();
  EXPECT_EQ(last.payload.id, 7u);
  EXPECT_EQ(reader().table()[last.slot].version, reader().header().head << 1);

  release(7);
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 0u);
  EXPECT_EQ(peak(TTMEM_SPACE_DRAM), 2113536u);
  EXPECT_EQ(reader().count(Kind::kBuffer), 0u);
  EXPECT_FALSE(Meta::live(reader().events().back().payload.meta));
  EXPECT_GT(reader().events().back().payload.time, found[0].time);  // when it was released
  EXPECT_EQ(reader().events().back().payload.id, 7u);
}

TEST_F(Buffers1, TheOperationOfTheLaunchThatFollowedIsMarkedAsDerived) {
  allocate(buffer(7, 176128));
  const auto before = reader().live(Kind::kBuffer).at(0);
  const ttmem_string_t name = recorder->interning.string("BinaryDeviceOperation", 21);
  recorder->buffers.followed(allocator, TTMEM_SPACE_DRAM, 7, name);
  const auto after = reader().live(Kind::kBuffer).at(0);
  EXPECT_EQ(reader().blob(after.operation), "BinaryDeviceOperation");
  EXPECT_EQ(Meta::flags(after.meta) & segment::kFlagDerived, segment::kFlagDerived);
  EXPECT_EQ(after.time, before.time) << "it is as old as it was";
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 2113536u) << "and takes what it took";
  EXPECT_EQ(reader().events().back().payload.operation, name);

  recorder->buffers.followed(allocator, TTMEM_SPACE_DRAM, 8, name);
  recorder->buffers.followed(9, TTMEM_SPACE_DRAM, 7, name);
  for (unsigned kind = 0; kind < segment::kAnomalies; ++kind) {
    EXPECT_EQ(reader().anomalies(kind), 0u) << "a buffer may be gone before it is named";
  }
}

TEST_F(Buffers1, TellsTheSumOfItsBlocksAndTheLastEvent) {
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  allocate(buffer(1, 4096));
  allocate(buffer(2, 8192));
  EXPECT_EQ(recorder->buffers.read(allocator, TTMEM_SPACE_DRAM, &bytes, &before), 0);
  EXPECT_EQ(bytes, 4096u + 8192u) << "of one bank, as the runtime's statistics";
  release(1);
  EXPECT_EQ(recorder->buffers.read(allocator, TTMEM_SPACE_DRAM, &bytes, &after), 0);
  EXPECT_EQ(bytes, 8192u);
  EXPECT_EQ(after, before + 1) << "one event happened between the two";
  EXPECT_EQ(recorder->buffers.read(allocator, 99, &bytes, &after), ENOENT);
  EXPECT_EQ(recorder->buffers.read(99, TTMEM_SPACE_DRAM, &bytes, &after), ENOENT);
}

TEST_F(Buffers4, OneCallRecordsOnAllDevicesOfTheSet) {
  allocate(buffer(1, 4096, TTMEM_SPACE_L1));
  for (std::size_t chip = 0; chip < 4; ++chip) {
    EXPECT_EQ(taken(TTMEM_SPACE_L1, chip), 4096u * 64);
  }
  EXPECT_EQ(reader().count(Kind::kBuffer), 1u);
}

TEST_F(Buffers4, ASetNeedNotBeContiguousOrInOrder) {
  const ttmem_set_t two = set_of({chips[3], chips[1]});
  const ttmem_allocator_t other = open_allocator(two);
  ttmem_buffer made = buffer(1, 4096);
  made.allocator = other;
  allocate(made);
  EXPECT_EQ(taken(0, 0), 0u);
  EXPECT_EQ(taken(0, 1), 4096u * 12);
  EXPECT_EQ(taken(0, 2), 0u);
  EXPECT_EQ(taken(0, 3), 4096u * 12);
}

TEST_F(Buffers1, SpacesAndAllocatorsKeepEqualIdsApart) {
  const ttmem_allocator_t other = open_allocator(set);
  allocate(buffer(4096, 32, TTMEM_SPACE_DRAM));
  allocate(buffer(4096, 64, TTMEM_SPACE_L1));
  ttmem_buffer elsewhere = buffer(4096, 96, TTMEM_SPACE_DRAM);
  elsewhere.allocator = other;
  allocate(elsewhere);
  EXPECT_EQ(reader().count(Kind::kBuffer), 3u);
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), (32u + 96) * 12);
  release(4096, TTMEM_SPACE_DRAM);
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 96u * 12);
  EXPECT_EQ(taken(TTMEM_SPACE_L1), 64u * 64);
}

TEST_F(Buffers1, AnAddressIsUsedAgainWithAnotherSize) {
  allocate(buffer(25718784, 524288));
  release(25718784);
  allocate(buffer(25718784, 98304));
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 98304u * 12);
  release(25718784);
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 0u);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), 0u);
  release(25718784);
  EXPECT_EQ(taken(TTMEM_SPACE_DRAM), 0u);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), 1u);
  const auto note = reader().events().back().payload;
  EXPECT_EQ(note.a, TTMEM_ANOMALY_UNKNOWN_FREE);
  EXPECT_EQ(note.b, 25718784u);
}

TEST_F(Buffers1, ALiveIdRecordedAgainReplacesTheOldSize) {
  allocate(buffer(5, 1000));
  allocate(buffer(5, 3000));
  EXPECT_EQ(taken(0), 3000u * 12);
  EXPECT_EQ(reader().count(Kind::kBuffer), 1u);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_REPLACED), 1u);
  release(5);
  EXPECT_EQ(taken(0), 0u);
}

TEST_F(Buffers1, WhatIsNotKnownChangesNothingAndIsCounted) {
  ttmem_buffer made = buffer(1, 100);
  made.allocator = 999;
  allocate(made);
  made = buffer(1, 100, 7);
  allocate(made);
  allocate(buffer(1, segment::kMaxBlockBytes + 1));
  recorder->buffers.freed(0, 0, 1);
  const auto seen = reader();
  EXPECT_EQ(seen.count(Kind::kBuffer), 0u);
  EXPECT_EQ(seen.anomalies(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR), 2u);
  EXPECT_EQ(seen.anomalies(TTMEM_ANOMALY_BAD_VALUE), 2u);
  EXPECT_EQ(seen.counters().unrecorded, 3u);
  EXPECT_EQ(taken(0), 0u);
}

TEST_F(Buffers1, SizeZeroIsAHoldingOfNoBytes) {
  allocate(buffer(1, 0));
  EXPECT_EQ(reader().count(Kind::kBuffer), 1u);
  release(1);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), 0u);
}

TEST_F(Buffers1, PerCoreTakesOnlyItsCores) {
  ttmem_buffer made = buffer(1, 32768, TTMEM_SPACE_L1);
  made.cores = cores(0, 0, 3, 0);
  made.per_core = 1;
  allocate(made);
  EXPECT_EQ(taken(TTMEM_SPACE_L1), 4u * 32768);
  release(1, TTMEM_SPACE_L1);
  EXPECT_EQ(taken(TTMEM_SPACE_L1), 0u);
}

TEST_F(Buffers1, RequestedOnlyCountsWhatWasAskedAndEstimatesCountNothing) {
  ttmem_buffer made = buffer(1, 1);
  made.requested = 5000;
  made.flags = TTMEM_FLAG_REQUESTED_ONLY;
  allocate(made);
  EXPECT_EQ(taken(0), 5000u);
  made.id = 2;
  made.flags = TTMEM_FLAG_ESTIMATED;
  allocate(made);
  EXPECT_EQ(taken(0), 5000u);
  ttmem_buffer host = buffer(3, 1, TTMEM_SPACE_SYSTEM_MEMORY);
  host.requested = 77;
  allocate(host);
  EXPECT_EQ(taken(TTMEM_SPACE_SYSTEM_MEMORY), 77u);
  EXPECT_EQ(taken(0), 5000u);
}

TEST_F(Buffers1, FlagsCanBeAddedLater) {
  allocate(buffer(1, 100));
  recorder->buffers.flagged(allocator, 0, 1, TTMEM_FLAG_PROGRAM_CACHE);
  EXPECT_EQ(Meta::flags(reader().live(Kind::kBuffer)[0].meta), TTMEM_FLAG_PROGRAM_CACHE);
  recorder->buffers.flagged(allocator, 0, 1, TTMEM_FLAG_ESTIMATED);
  EXPECT_EQ(taken(0), 0u);
  release(1);
  EXPECT_EQ(taken(0), 0u);
  recorder->buffers.flagged(allocator, 0, 1, TTMEM_FLAG_TRACE);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), 1u);
}

TEST_F(Buffers1, ClearingAnAllocatorReleasesItsBuffersAndNoOthers) {
  const ttmem_allocator_t other = open_allocator(set);
  for (std::uint64_t id = 0; id < 1000; ++id) allocate(buffer(id, 32));
  ttmem_buffer kept = buffer(1, 64);
  kept.allocator = other;
  allocate(kept);
  recorder->allocators.cleared(allocator);
  EXPECT_EQ(reader().count(Kind::kBuffer), 1u);
  EXPECT_EQ(taken(0), 64u * 12);
  const auto last = reader().events().back().payload;
  EXPECT_EQ(Meta::block(last.meta), static_cast<std::uint64_t>(segment::Note::kAllocatorCleared));
  allocate(buffer(5, 32));  // it still works
  EXPECT_EQ(reader().count(Kind::kBuffer), 2u);
}

TEST_F(Buffers1, AClosedAllocatorHasNoBuffersAndTakesNone) {
  allocate(buffer(1, 32));
  recorder->allocators.closed(allocator);
  EXPECT_EQ(taken(0), 0u);
  allocate(buffer(2, 32));
  release(1);
  EXPECT_EQ(taken(0), 0u);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR), 1u);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), 1u);
}

TEST_F(Buffers1, TheRecordsOfClosedAllocatorsAreUsedAgain) {
  for (std::uint32_t i = 0; i < 3 * segment::kMaxAllocators; ++i) {
    const ttmem_allocator_t made = open_allocator(set);
    ASSERT_NE(made, 0) << i;
    recorder->allocators.closed(made);
  }
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_LIMIT), 0u);
}

TEST_F(Buffers1, AnotherNumberOfBanksChangesWhatLiveBuffersTake) {
  allocate(buffer(1, 100));
  const ttmem_space_info smaller = {TTMEM_SPACE_DRAM, 7, 0, 1 << 20, 32, 0, nullptr};
  recorder->allocators.resized(allocator, smaller);
  EXPECT_EQ(taken(0), 700u);
  release(1);
  EXPECT_EQ(taken(0), 0u);
  EXPECT_EQ(
      reader().record<segment::Allocator>(segment::kAllocatorsOffset, allocator).spaces[0].banks,
      7u);
}

TEST_F(Buffers1, TwoRecordersWithEqualIdsDoNotMeet) {
  const auto second = std::make_unique<Recorder>();
  Options options;
  options.directory = directory.path().c_str();
  segment::Identity client = {};
  client.pid = 67890;
  client.start_ticks = 5;
  options.subject = &client;
  options.source = TTMEM_SOURCE_LEGACY;
  ASSERT_EQ(second->open(options), 0);
  const ttmem_device_t chip = second->devices.opened(device_info(100));
  ttmem_set_info info = {};
  info.device_count = 1;
  info.devices = &chip;
  ttmem_allocator_info plain = {};
  plain.set = second->devices.set(info);
  ttmem_buffer made = buffer(1, 0);
  made.allocator = second->allocators.opened(plain);
  made.requested = 2097152;
  second->buffers.allocated(made, {});
  allocate(buffer(1, 1048576));
  release(1);
  const TinyReader other(second->writer.store.file().path());
  EXPECT_EQ(other.count(Kind::kBuffer), 1u);
  EXPECT_EQ(other.counters().taken[0][chip], 2097152u);  // no geometry: what was asked for
  EXPECT_EQ(other.header().subject.pid, 67890);
  EXPECT_EQ(other.header().writer.pid, getpid());
  EXPECT_EQ(other.header().source, static_cast<std::uint32_t>(TTMEM_SOURCE_LEGACY));
  EXPECT_EQ(reader().count(Kind::kBuffer), 0u);
}

// The table against a naive map, over many growth steps, splits and reuses.
TEST_F(Buffers4, RandomStreamsAgreeWithAMap) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> model;
  std::array<std::uint64_t, 5> sums = {};
  constexpr std::uint64_t kBanks[] = {12, 64, 0, 64, 12};
  constexpr std::uint8_t kSpacesUsed[] = {0, 1, 3, 4};
  for (int step = 0; step < 100000; ++step) {
    const std::uint8_t space = kSpacesUsed[random() % 4];
    const std::uint64_t id = random() % 10000;
    const auto key = std::make_pair(unsigned{space}, id);
    if (const auto known = model.find(key); known != model.end()) {
      release(id, space);
      sums[space] -= known->second * kBanks[space];
      model.erase(known);
    } else {
      const std::uint64_t block = random() % 100000;
      allocate(buffer(id, block, space));
      model[key] = block;
      sums[space] += block * kBanks[space];
    }
    ASSERT_EQ(taken(space, random() % 4), sums[space]);
  }
  const auto found = reader().live(Kind::kBuffer);
  ASSERT_EQ(found.size(), model.size());
  for (const Payload& payload : found) {
    ASSERT_EQ(model.at({Meta::space(payload.meta), payload.id}), Meta::block(payload.meta));
  }
  for (const auto& [key, block] : model) release(key.second, key.first);
  for (unsigned space = 0; space < 5; ++space) EXPECT_EQ(taken(space, 2), 0u);
  EXPECT_EQ(reader().counters().live_slots, 0u);
}

// The runtime numbers its buffers. The newest one is found wherever it lies: released at once or
// later, recorded again, flagged, named, cleared with the others; and so is one that comes late.
TEST_F(Buffers1, RandomStreamsOfNumberedBuffersAgreeWithAMap) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const ttmem_string_t name = recorder->interning.string("Followed", 8);
  std::map<std::uint64_t, std::uint64_t> model;
  std::uint64_t sum = 0, next = 1, replaced = 0, unknown = 0;
  for (int step = 0; step < 50000; ++step) {
    const std::uint64_t id = random() % 3 == 0 && next > 20 ? next - 1 - random() % 20 : next - 1;
    const auto known = model.find(id);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        ++next;
        [[fallthrough]];
      case 3: {  // a new one, or one with an earlier number
        const std::uint64_t added = random() % 8 == 0 ? id : next - 1;
        const std::uint64_t block = random() % 100000;
        replaced += model.contains(added) ? 1 : 0;
        allocate(buffer(added, block));
        sum += block - model[added];
        model[added] = block;
        break;
      }
      case 4:
        recorder->buffers.followed(allocator, 0, id, name);
        break;
      case 5:
        unknown += known == model.end() ? 1 : 0;
        recorder->buffers.flagged(allocator, 0, id, TTMEM_FLAG_PROGRAM_CACHE);
        break;
      default:
        release(id);
        if (known == model.end()) {
          ++unknown;
        } else {
          sum -= known->second;
          model.erase(known);
        }
    }
    if (random() % 5000 == 0) {
      recorder->allocators.cleared(allocator);
      model.clear();
      sum = 0;
    }
    ASSERT_EQ(taken(0), sum * 12);
  }
  const auto found = reader().live(Kind::kBuffer);
  ASSERT_EQ(found.size(), model.size());
  for (const Payload& payload : found) {
    ASSERT_EQ(model.at(payload.id), Meta::block(payload.meta));
  }
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_REPLACED), replaced);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_FREE), unknown);
  for (const auto& [id, block] : model) release(id);
  EXPECT_EQ(taken(0), 0u);
  EXPECT_EQ(reader().counters().live_slots, 0u);
}

TEST_F(Buffers1, ThreadsLoseNothing) {
  constexpr std::uint64_t kThreads = 4, kEach = 4000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        allocate(buffer(t << 32 | i, 10));
        if (i % 2 == 1) release(t << 32 | (i - 1));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken(0), kThreads * kEach / 2 * 10 * 12);
  EXPECT_EQ(reader().count(Kind::kBuffer), kThreads * kEach / 2);
  EXPECT_EQ(reader().counters().unrecorded, 0u);
}

TEST_F(Buffers1, ThreadsMayAllocateWhileTheAllocatorIsClosed) {
  std::thread other([&] {
    for (std::uint64_t i = 0; i < 20000; ++i) allocate(buffer(i, 10));
  });
  recorder->allocators.closed(allocator);
  other.join();
  EXPECT_EQ(taken(0), 0u);
  EXPECT_EQ(reader().count(Kind::kBuffer), 0u);
}

}  // namespace
}  // namespace ttmem::client
