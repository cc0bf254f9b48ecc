// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A file of blocks, whole, cut at every byte, and with any byte changed.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "recording/columns.hpp"
#include "recording/file_reader.hpp"
#include "recording/file_writer.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::recording {
namespace {

constexpr std::uint32_t kBlocks = 6;

std::vector<SlotRecord> some_events(std::uint64_t first, std::size_t count) {
  std::vector<SlotRecord> events;
  for (std::size_t i = 0; i < count; ++i) {
    SlotRecord event;
    event.number = first + i;
    event.slot = static_cast<std::uint32_t>(i % 7);
    event.payload.id = 1000 - i;
    event.payload.time = 1'000'000 + i * 13 - (i % 3) * 40;
    event.payload.a = ~i;
    event.payload.set = static_cast<std::uint16_t>(i);
    event.payload.origin = 5;
    events.push_back(event);
  }
  return events;
}

bool same(const SlotRecord& a, const SlotRecord& b) {
  return a.number == b.number && a.slot == b.slot &&
         std::memcmp(&a.payload, &b.payload, sizeof a.payload) == 0;
}

class FileTest : public ::testing::Test {
 protected:
  // The file's block and some blocks of events; returns its bytes.
  std::string make(bool finish) {
    FileInfo info{};
    std::memcpy(info.host, "here", 4);
    ::unlink(path_.c_str());
    auto writer = FileWriter::create(path_, false, info, {});
    EXPECT_TRUE(writer);
    for (std::uint32_t i = 1; i < kBlocks; ++i) {
      BlockHeader header{};
      header.kind = static_cast<std::uint16_t>(BlockKind::kEvents);
      header.process = 1;
      header.count = 20;
      header.first_event = i * 20;
      Bytes body(sizeof(EventsHead));
      pack_columns(some_events(header.first_event, 20), body);
      EXPECT_FALSE(writer->add(header, body));
      ends_.push_back(writer->bytes());
    }
    if (finish) {
      EXPECT_FALSE(writer->finish());
    }
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  Result<FileReader> open(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return FileReader::open(path_);
  }
  // Blocks of events that can be read, and are what was written.
  static std::size_t readable(const FileReader& reader) {
    std::size_t count = 0;
    for (const IndexEntry& block : reader.blocks()) {
      if (kind_of(block) != BlockKind::kEvents) continue;
      const auto body = reader.events(block);
      if (!body) continue;
      const auto expected = some_events(block.header.first_event, 20);
      EXPECT_TRUE(std::ranges::equal(body->events, expected, same));
      ++count;
    }
    return count;
  }

  support::TemporaryDirectory directory_{"/tmp"};
  std::string path_ = directory_ / "file.ttm";
  std::vector<std::uint64_t> ends_;  // of the blocks of events
};

TEST_F(FileTest, ColumnsGiveBackWhatWasPacked) {
  const auto events = some_events(77, 1000);
  Bytes columns;
  pack_columns(events, columns);
  EXPECT_EQ(columns.size(), events.size() * kPackedRecordBytes);
  std::vector<SlotRecord> back;
  ASSERT_TRUE(unpack_columns(columns, events.size(), back));
  EXPECT_TRUE(std::ranges::equal(back, events, same));
  EXPECT_FALSE(unpack_columns(columns, events.size() + 1, back));
}

TEST_F(FileTest, AWholeFileIsReadThroughItsIndex) {
  const auto reader = open(make(true));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader->is_ended());
  EXPECT_EQ(reader->broken_bytes(), 0u);
  EXPECT_STREQ(reader->info().host, "here");
  EXPECT_EQ(readable(*reader), kBlocks - 1);
}

TEST_F(FileTest, AFileThatIsCutAnywhereGivesAllBlocksBeforeTheCut) {
  const std::string whole = make(true);
  const std::uint64_t first = ends_.front();  // the file's own block ends before it
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const auto reader = open(whole.substr(0, cut));
    const auto expected = static_cast<std::size_t>(
        std::ranges::count_if(ends_, [&](std::uint64_t end) { return end <= cut; }));
    if (!reader) {
      EXPECT_LT(cut, first);
      continue;
    }
    ASSERT_EQ(readable(*reader), expected) << "cut after " << cut;
    ASSERT_FALSE(reader->is_ended());
  }
}

TEST_F(FileTest, AByteThatIsWrongCostsOneBlock) {
  const std::string whole = make(false);
  const std::uint64_t start = ends_.front();
  for (std::size_t at = start; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    const auto reader = open(bytes);
    ASSERT_TRUE(reader) << reader.error().message;
    // A byte that nothing depends on may be any.
    ASSERT_GE(readable(*reader), kBlocks - 2) << "byte " << at;
  }
}

TEST_F(FileTest, OthersFilesAndVersionsAreRefusedInWords) {
  EXPECT_NE(open("").error().message.find("no recording"), std::string::npos);
  EXPECT_NE(open(std::string(4096, 'x')).error().message.find("no recording"), std::string::npos);
  EXPECT_EQ(FileReader::open(directory_ / "none").error().code, ErrorCode::kNotFound);
  std::filesystem::create_symlink(path_, directory_ / "link");
  EXPECT_NE(FileReader::open(directory_ / "link").error().message.find("link"), std::string::npos);
}

TEST_F(FileTest, ANewFileIsPrivateAndNoOtherIsReplacedUnasked) {
  make(true);
  struct stat facts{};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
  EXPECT_TRUE(create_private_file(path_, false)
                  .error()
                  .message.ends_with(": remove it, or name another one"));
  EXPECT_TRUE(create_private_file(path_, true));
  std::filesystem::create_symlink("/etc/passwd", directory_ / "link");
  EXPECT_FALSE(create_private_file(directory_ / "link", false));
  EXPECT_FALSE(create_private_file(directory_ / "link", true));
}

}  // namespace
}  // namespace ttmem::recording
