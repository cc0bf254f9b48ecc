// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A reader that runs for months: what it keeps depends on what is there, not on what ever was.
#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collect/collector.hpp"
#include "segment/reader_file.hpp"
#include "segment/segment_builder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using support::SegmentBuilder;
using support::TemporaryDirectory;

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

std::string make_dead(const TemporaryDirectory& directory, std::uint64_t number) {
  std::string path = directory / fmt::format("ttmem-7-{}-{:016x}", number, number);
  SegmentBuilder builder(path, support::Places::compact());
  builder.add_usual_device(number);
  builder.put(0, support::buffer_payload(1, 64, 4096));
  builder.header().subject.start_ticks += number;
  builder.header().writer = builder.header().subject;
  builder.flush();
  return path;
}

TEST(LongLived, TheDeadCostNoDescriptor) {
  TemporaryDirectory directory;
  Collector collector({.directories = {directory.path()}});
  collector.refresh();
  const auto before = open_descriptors();
  for (std::uint64_t i = 1; i <= 20; ++i) make_dead(directory, i);
  collector.refresh();
  EXPECT_EQ(collector.snapshot().processes.size(), 20u);
  EXPECT_EQ(open_descriptors(), before);
  collector.refresh();
  EXPECT_EQ(collector.snapshot().processes.size(), 20u) << "still told";
}

TEST(LongLived, AFileAtRestIsReadThroughItsNameWhileThatIsItsOwn) {
  TemporaryDirectory directory;
  const std::string path = directory / "file";
  std::ofstream(path) << "one";
  auto file = segment::ReadOnlyFile::open(path, {});
  ASSERT_TRUE(file);
  file->rest();
  char byte = 0;
  EXPECT_TRUE(file->read(1, &byte, 1));
  EXPECT_EQ(byte, 'n');
  std::ofstream(directory / "other") << "two";
  std::filesystem::rename(directory / "other", path);
  EXPECT_FALSE(file->read(1, &byte, 1));
}

TEST(LongLived, AProcessThatIsGoneLeavesNothing) {
  if (support::kSanitized) GTEST_SKIP() << "mallinfo2 tells nothing under sanitizers";
  TemporaryDirectory directory;
  Collector collector({.directories = {directory.path()}, .events = true});
  std::uint64_t number = 0;
  const auto come_and_go = [&](std::uint64_t count) {
    for (const std::uint64_t end = number + count; number < end;) {
      const std::string path = make_dead(directory, ++number);
      collector.refresh();
      ::unlink(path.c_str());
      collector.refresh();
      collector.take_events();
    }
  };
  come_and_go(1200);  // chips are remembered up to a number
  const std::size_t before = ::mallinfo2().uordblks;
  come_and_go(1000);
  EXPECT_LT(::mallinfo2().uordblks, before + 100'000);
}

}  // namespace
}  // namespace ttmem::collect
