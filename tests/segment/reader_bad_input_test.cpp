// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A segment is what a stranger wrote: whatever is in it, reading ends with an answer in words.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "segment/reader.hpp"
#include "segment/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::segment {
namespace {

using support::buffer_payload;
using support::SegmentBuilder;
using support::TemporaryDirectory;

class NoSink : public SlotSink {
 public:
  void on_slot(std::uint32_t, const Payload&) override { ++slots; }
  void on_launches(std::uint32_t, const Payload&) override {}
  std::uint64_t slots = 0;
};

class ReaderBadInput : public ::testing::Test {
 protected:
  Error error_of(const std::string& path, std::optional<std::uint32_t> owner = std::nullopt) {
    auto reader = Reader::open(path, owner);
    EXPECT_FALSE(reader) << "it was accepted";
    return reader ? Error{} : reader.error();
  }
  // The error after one change to an otherwise good header.
  Error error_after(const std::function<void(Header&)>& change) {
    SegmentBuilder builder(directory_ / "s");
    builder.add_usual_device();
    builder.put(0, buffer_payload(1, 64, 128));
    change(builder.header());
    builder.flush();
    return error_of(builder.path());
  }
  TemporaryDirectory directory_;
};

TEST_F(ReaderBadInput, AGoodOneIsAccepted) {
  SegmentBuilder builder(directory_ / "s");
  builder.add_usual_device();
  builder.put(0, buffer_payload(1, 64, 128));
  auto reader = Reader::open(builder.path(), ::geteuid());
  ASSERT_TRUE(reader) << reader.error().message;
  NoSink sink;
  TableUpdate update;
  EXPECT_TRUE(reader->update_table(sink, update));
  EXPECT_EQ(sink.slots, 1u);
  EXPECT_EQ(update.event, 1u);
}

TEST_F(ReaderBadInput, MissingFile) {
  EXPECT_EQ(error_of(directory_ / "none").code, ErrorCode::kNotFound);
}

TEST_F(ReaderBadInput, SymbolicLink) {
  SegmentBuilder builder(directory_ / "s");
  ASSERT_EQ(::symlink(builder.path().c_str(), (directory_ / "link").c_str()), 0);
  EXPECT_EQ(error_of(directory_ / "link").code, ErrorCode::kWrongKind);
}

TEST_F(ReaderBadInput, PipeAndDirectory) {
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of(directory_ / "pipe").code, ErrorCode::kWrongKind);
  EXPECT_EQ(error_of(directory_.path()).code, ErrorCode::kWrongKind);
}

TEST_F(ReaderBadInput, ForeignOwner) {
  SegmentBuilder builder(directory_ / "s");
  if (::chown(builder.path().c_str(), 4711, 4711) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const Error error = error_of(builder.path(), 4712);
  EXPECT_EQ(error.code, ErrorCode::kWrongKind);
  EXPECT_NE(error.message.find("4711"), std::string::npos) << error.message;
  EXPECT_TRUE(Reader::open(builder.path(), 4711));
}

TEST_F(ReaderBadInput, NotReadable) {
  SegmentBuilder builder(directory_ / "s");
  ASSERT_EQ(::chmod(builder.path().c_str(), 0), 0);
  const uid_t user = ::geteuid();
  if (user == 0) {
    ASSERT_EQ(::seteuid(65534), 0);  // root may read everything
  }
  EXPECT_EQ(error_of(builder.path()).code, ErrorCode::kNotPermitted);
  ASSERT_EQ(::seteuid(user), 0);
}

TEST_F(ReaderBadInput, TruncatedAnywhere) {
  SegmentBuilder builder(directory_ / "s");
  builder.add_usual_device();
  for (std::uint32_t i = 0; i < 100; ++i) builder.put(i, buffer_payload(i, 64 * i, 64));
  for (const off_t size : {off_t{0}, off_t{1}, off_t{4095}}) {
    ASSERT_EQ(::truncate(builder.path().c_str(), size), 0);
    EXPECT_EQ(error_of(builder.path()).code, ErrorCode::kCorrupt) << size;
  }
}

TEST_F(ReaderBadInput, ShrinkingWhileItIsFollowed) {
  SegmentBuilder builder(directory_ / "s");
  builder.add_usual_device();
  for (std::uint32_t i = 0; i < 100; ++i) builder.put(i, buffer_payload(i, 64 * i, 64));
  auto reader = Reader::open(builder.path(), std::nullopt);
  ASSERT_TRUE(reader);
  NoSink sink;
  TableUpdate update;
  ASSERT_EQ(::truncate(builder.path().c_str(), kTableOffset + 64 * 10), 0);
  EXPECT_FALSE(reader->update_table(sink, update));
  ASSERT_EQ(::truncate(builder.path().c_str(), 100), 0);
  ASSERT_TRUE(reader->refresh());
}

TEST_F(ReaderBadInput, Garbage) {
  std::ofstream file(directory_ / "s", std::ios::binary);
  for (int i = 0; i < 1 << 16; ++i) file.put(static_cast<char>(i * 2654435761u >> 13));
  file.close();
  EXPECT_EQ(error_of(directory_ / "s").code, ErrorCode::kWrongKind);
}

TEST_F(ReaderBadInput, OtherVersions) {
  const Error error = error_after([](Header& header) { header.major = 2; });
  EXPECT_EQ(error.code, ErrorCode::kWrongVersion);
  EXPECT_NE(error.message.find("2.0"), std::string::npos) << error.message;
  SegmentBuilder builder(directory_ / "later");
  builder.header().minor = 7;
  builder.flush();
  EXPECT_TRUE(Reader::open(builder.path(), std::nullopt)) << "a higher minor version only appends";
}

TEST_F(ReaderBadInput, ALongerRecordOfALaterMinorVersion) {
  SegmentBuilder builder(directory_ / "s");
  auto& section = builder.header().sections[0];
  section.entry_bytes = 512;
  Device device{};
  device.version = 2;
  device.unique_id = 77;
  builder.write(section.offset + 512, &device, sizeof device);
  builder.header().device_count = 1;
  builder.header().minor = 1;
  builder.flush();
  auto reader = Reader::open(builder.path(), std::nullopt);
  ASSERT_TRUE(reader) << reader.error().message;
  std::uint64_t seen = 0;
  EXPECT_TRUE(reader->update_devices(
      [&](std::uint32_t index, const Device& found) { seen = found.unique_id * index; }));
  EXPECT_EQ(seen, 77u);
}

TEST_F(ReaderBadInput, SectionsThatCannotBe) {
  const auto table = static_cast<std::size_t>(SectionKind::kTable) - 1;
  const auto events = static_cast<std::size_t>(SectionKind::kEvents) - 1;
  const std::vector<std::function<void(Header&)>> changes = {
      [&](Header& h) { h.sections[table].offset = 0; },
      [&](Header& h) { h.sections[table].offset = ~0ull; },
      [&](Header& h) { h.sections[table].offset += 4; },
      [&](Header& h) { h.sections[table].max_bytes = ~0ull; },
      [&](Header& h) { h.sections[table].entry_bytes = 128; },
      [&](Header& h) { h.sections[table].offset = h.sections[events].offset; },
      [&](Header& h) { h.sections[table].kind = 9; },
      [&](Header& h) { h.sections[table].kind = 0; },
      [&](Header& h) { h.sections[table].kind = 4711; },
      [&](Header& h) { h.sections[events].max_bytes = 0; },
      [&](Header& h) { h.sections[0].entry_bytes = 8; },
      [&](Header& h) { h.sections[0].entry_bytes = 0; },
      [&](Header& h) { h.sections[0].entry_bytes = 5 * sizeof(Device); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(error_after(changes[i]).code, ErrorCode::kCorrupt) << "change " << i;
  }
}

TEST_F(ReaderBadInput, CountsThatCannotBe) {
  const std::vector<std::function<void(Header&)>> changes = {
      [](Header& h) { h.device_count = kMaxDevices; },
      [](Header& h) { h.device_set_count = 0xFFFFFFFF; },
      [](Header& h) { h.allocator_count = kMaxAllocators; },
      [](Header& h) { h.ring_manager_count = kMaxRingManagers; },
      [](Header& h) { h.table_slots = kMaxTableSlots + 1; },
      [](Header& h) { h.table_slots = kMaxTableSlots; },
      [](Header& h) { h.interned_bytes = kMaxInternedBytes; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(error_after(changes[i]).code, ErrorCode::kCorrupt) << "change " << i;
  }
}

TEST_F(ReaderBadInput, SparseAndHuge) {
  SegmentBuilder builder(directory_ / "s");
  ASSERT_EQ(::truncate(builder.path().c_str(), off_t{256} << 30), 0);
  builder.header().table_slots = 1 << 27;
  builder.flush();
  const Error error = error_of(builder.path());
  EXPECT_EQ(error.code, ErrorCode::kCorrupt) << "8 GiB of zeros were read";
  EXPECT_NE(error.message.find("claims"), std::string::npos) << error.message;
}

TEST_F(ReaderBadInput, VanishedWhileItIsFollowed) {
  SegmentBuilder builder(directory_ / "s");
  builder.add_usual_device();
  builder.put(0, buffer_payload(1, 64, 128));
  auto reader = Reader::open(builder.path(), std::nullopt);
  ASSERT_TRUE(reader);
  ASSERT_EQ(::unlink(builder.path().c_str()), 0);
  builder.put(1, buffer_payload(2, 256, 128));
  EXPECT_FALSE(reader->refresh()) << "an open file stays readable";
  NoSink sink;
  TableUpdate update;
  EXPECT_TRUE(reader->update_table(sink, update));
  EXPECT_EQ(update.event, 2u);
}

TEST_F(ReaderBadInput, AnotherSegmentInItsPlace) {
  SegmentBuilder builder(directory_ / "s");
  auto reader = Reader::open(builder.path(), std::nullopt);
  ASSERT_TRUE(reader);
  builder.header().nonce = 99;
  builder.flush();
  const auto error = reader->refresh();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kCorrupt);
}

// Its lock and its pid were asked for when it said something else.
TEST_F(ReaderBadInput, AnotherProcessInItsPlace) {
  for (const bool of_writer : {false, true}) {
    SegmentBuilder builder(directory_ / "s");
    auto reader = Reader::open(builder.path(), std::nullopt);
    ASSERT_TRUE(reader);
    Identity& identity = of_writer ? builder.header().writer : builder.header().subject;
    identity.start_ticks = 1;
    builder.flush();
    const auto error = reader->refresh();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace ttmem::segment
