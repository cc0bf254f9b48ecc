// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Following a table: the state after event n is exactly the fold of the first n events.
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "segment/reader.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::segment {
namespace {

using support::buffer_payload;
using support::SegmentBuilder;
using support::TemporaryDirectory;

// What the table holds: ids of live buffers by slot.
class Model : public SlotSink {
 public:
  void on_slot(std::uint32_t index, const Payload& payload) override {
    ++calls;
    if (Meta::live(payload.meta)) {
      live[index] = payload.id;
      launches[index] = payload.a;
    } else {
      live.erase(index);
    }
  }
  void on_launches(std::uint32_t index, const Payload& payload) override {
    launches[index] = payload.a;
  }
  std::map<std::uint32_t, std::uint64_t> live;
  std::map<std::uint32_t, std::uint64_t> launches;
  std::uint64_t calls = 0;
};

class ReaderTable : public ::testing::Test {
 protected:
  ReaderTable() : builder_(directory_ / "s") {}

  Reader open() {
    auto reader = Reader::open(builder_.path(), std::nullopt);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }
  TableUpdate follow(Reader& reader, Model& model) {
    EXPECT_FALSE(reader.refresh());
    TableUpdate update;
    EXPECT_TRUE(reader.update_table(model, update));
    return update;
  }
  void alloc(std::uint32_t slot, std::uint64_t id) {
    builder_.put(slot, buffer_payload(id, id * 64, 64));
    truth_[slot] = id;
  }
  void free(std::uint32_t slot) {
    builder_.put(slot, buffer_payload(truth_[slot], 0, 64, 0, false));
    truth_.erase(slot);
  }
  TemporaryDirectory directory_;
  SegmentBuilder builder_;
  std::map<std::uint32_t, std::uint64_t> truth_;
};

TEST_F(ReaderTable, FirstLookThenOnlyWhatChanged) {
  for (std::uint32_t i = 0; i < 3000; ++i) alloc(i, i + 1);
  Reader reader = open();
  Model model;
  TableUpdate update = follow(reader, model);
  EXPECT_TRUE(update.table_read);
  EXPECT_EQ(update.event, 3000u);
  EXPECT_EQ(model.live, truth_);
  model.calls = 0;
  update = follow(reader, model);
  EXPECT_FALSE(update.table_read);
  EXPECT_EQ(model.calls, 0u);
  free(5);
  alloc(5, 9999);
  free(7);
  update = follow(reader, model);
  EXPECT_FALSE(update.table_read);
  EXPECT_EQ(update.events.events.size(), 3u);
  EXPECT_EQ(update.events.first, 3001u);
  EXPECT_EQ(model.calls, 3u);
  EXPECT_EQ(model.live, truth_);
}

TEST_F(ReaderTable, RandomStreamsAtRandomMoments) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Reader reader = open();
  Model model;
  std::uint64_t id = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::uint32_t slot = random() % 500;
    if (truth_.contains(slot)) {
      free(slot);
    } else {
      alloc(slot, ++id);
    }
    if (random() % 50 != 0) continue;
    const TableUpdate update = follow(reader, model);
    ASSERT_EQ(update.event, builder_.header().head);
    ASSERT_EQ(model.live, truth_);
  }
}

TEST_F(ReaderTable, OverrunIsCountedAndRepaired) {
  for (std::uint32_t i = 0; i < 10; ++i) alloc(i, i + 1);
  Reader reader = open();
  Model model;
  follow(reader, model);
  model.calls = 0;
  constexpr std::uint64_t kEvents = 3 * kEventCapacity;
  for (std::uint64_t i = 0; i < kEvents / 2; ++i) {
    free(3);
    alloc(3, 1000 + i);
  }
  const TableUpdate update = follow(reader, model);
  EXPECT_TRUE(update.table_read);
  EXPECT_EQ(update.event, 10 + kEvents);
  EXPECT_EQ(model.live, truth_);
  EXPECT_EQ(model.calls, 1u) << "only the slot that changed is handed over";
  EXPECT_GE(update.missed, kEvents - kEventCapacity);
  EXPECT_LE(update.missed, kEvents - kEventCapacity + 2 * kEventMargin);
}

// What a reader sees when the writer went on while the table was read: older head, newer slots.
TEST_F(ReaderTable, SlotsNewerThanTheHeadAreRepairedFromTheRing) {
  alloc(0, 1);
  alloc(1, 2);
  free(0);
  Reader reader = open();
  Model model;
  // The table as of event 1, the ring and the head as of event 3.
  builder_.put_slot(0, 1 << 1, buffer_payload(1, 64, 64));
  builder_.put_slot(1, 0, Payload{});
  builder_.header().head = 1;
  builder_.flush();
  follow(reader, model);
  EXPECT_EQ(model.live, (std::map<std::uint32_t, std::uint64_t>{{0, 1}}));
  builder_.header().head = 3;
  builder_.flush();
  follow(reader, model);
  EXPECT_EQ(model.live, truth_);
}

TEST_F(ReaderTable, AWriterThatDiedInsideASlotIsFinishedFromTheRing) {
  alloc(0, 1);
  const Payload payload = buffer_payload(7, 448, 64);
  const Event event{2, 1, payload};
  builder_.write(kEventsOffset + 2 * sizeof event, &event, sizeof event);
  Payload torn = payload;
  torn.b = 0;
  torn.time = 0;
  builder_.put_slot(1, 2 << 1 | 1, torn);
  builder_.flush();
  Reader reader = open();
  Model model;
  const TableUpdate update = follow(reader, model);
  EXPECT_EQ(update.unsettled, 0u);
  EXPECT_EQ(model.live, (std::map<std::uint32_t, std::uint64_t>{{0, 1}, {1, 7}}));
}

TEST_F(ReaderTable, ASlotThatNeverSettlesIsCountedAndLeftOut) {
  alloc(0, 1);
  builder_.put_slot(1, 9 << 1 | 1, buffer_payload(7, 448, 64));
  builder_.flush();
  Reader reader = open();
  Model model;
  TableUpdate update = follow(reader, model);
  EXPECT_EQ(update.unsettled, 1u);
  EXPECT_EQ(model.live, truth_);
  alloc(1, 8);
  update = follow(reader, model);
  EXPECT_EQ(update.unsettled, 0u);
  EXPECT_EQ(model.live, truth_);
}

TEST_F(ReaderTable, LiveWordsComeFromTheTableAlone) {
  Payload workload{};
  workload.meta = Meta::pack(Kind::kWorkload, true, 0, 0, 0, 0);
  workload.id = 42;
  workload.a = 5;
  builder_.put(0, workload);
  Reader reader = open();
  Model model;
  follow(reader, model);
  EXPECT_EQ(model.launches[0], 5u);
  workload.a = 6;  // three words and the order stamp, no event
  builder_.put_slot(0, 1 << 1, workload);
  builder_.flush();
  follow(reader, model);
  EXPECT_EQ(model.launches[0], 5u) << "nothing was dispatched as far as the stamp says";
  builder_.header().order = 1;
  builder_.flush();
  follow(reader, model);
  EXPECT_EQ(model.launches[0], 6u);
  Payload stale = workload;
  stale.a = 0;
  const Event event{2, 0, stale};
  builder_.write(kEventsOffset + 2 * sizeof event, &event, sizeof event);
  builder_.put_slot(0, 2 << 1, workload);
  builder_.header().head = 2;
  builder_.flush();
  follow(reader, model);
  EXPECT_EQ(model.launches[0], 6u) << "an event's copy of a live word was believed";
}

TEST_F(ReaderTable, ANumberThatWentBackIsRefused) {
  for (std::uint32_t i = 0; i < 10; ++i) alloc(i, i + 1);
  Reader reader = open();
  Model model;
  follow(reader, model);
  builder_.header().head = 3;
  builder_.flush();
  EXPECT_FALSE(reader.refresh());
  TableUpdate update;
  EXPECT_FALSE(reader.update_table(model, update));
}

TEST_F(ReaderTable, OffsetsComeFromTheHeader) {
  SegmentBuilder small(directory_ / "small", support::Places::compact());
  for (std::uint64_t i = 0; i < 40; ++i) {
    small.put(static_cast<std::uint32_t>(i % 20), buffer_payload(i, 64, 64, 0, i >= 20));
  }
  auto reader = Reader::open(small.path(), std::nullopt);
  ASSERT_TRUE(reader) << reader.error().message;
  Model model;
  TableUpdate update;
  ASSERT_TRUE(reader->update_table(model, update));
  EXPECT_EQ(update.event, 40u);
  EXPECT_EQ(model.live.size(), 20u);
  EXPECT_EQ(model.live[19], 39u);
}

TEST_F(ReaderTable, BlobsAreValidatedAndFoundById) {
  const std::uint32_t first = builder_.add_string("ttnn.matmul");
  Reader reader = open();
  EXPECT_TRUE(reader.update_blobs());
  const std::uint32_t second = builder_.add_string("x");
  EXPECT_FALSE(reader.refresh());
  EXPECT_TRUE(reader.update_blobs());
  ASSERT_TRUE(reader.blobs().find(first));
  EXPECT_EQ(reader.blobs().find(first)->bytes.size(), 11u);
  ASSERT_TRUE(reader.blobs().find(second, BlobKind::kString));
  EXPECT_FALSE(reader.blobs().find(second, BlobKind::kCores));
  EXPECT_FALSE(reader.blobs().find(0));
  EXPECT_FALSE(reader.blobs().find(first + 1)) << "the middle of a blob is not a blob";
  EXPECT_FALSE(reader.blobs().find(0xFFFFFFFF));
  const Blob endless{0xFFFFFFFF, 1, 0};
  builder_.write(kInternedOffset + builder_.header().interned_bytes, &endless, sizeof endless);
  builder_.header().interned_bytes += sizeof endless;
  builder_.flush();
  EXPECT_FALSE(reader.refresh());
  EXPECT_FALSE(reader.update_blobs());
  EXPECT_TRUE(reader.blobs().find(first)) << "what was good stays";
}

}  // namespace
}  // namespace ttmem::segment
