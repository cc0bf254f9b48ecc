// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "base/file_descriptor.hpp"

#include <fcntl.h>

#include <utility>

#include <gtest/gtest.h>

namespace ttmem {
namespace {

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(FileDescriptor, ClosesAtItsEnd) {
  const int number = open_null();
  {
    const FileDescriptor file(number);
    EXPECT_TRUE(file);
    EXPECT_EQ(file.get(), number);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FileDescriptor, ACallThatFailedGivesNone) {
  const FileDescriptor file(::open("/nowhere/at/all", O_RDONLY));
  EXPECT_FALSE(file);
}

TEST(FileDescriptor, MovesAndReplaces) {
  const int first = open_null(), second = open_null();
  FileDescriptor one(first), two(second);
  one = std::move(two);
  EXPECT_FALSE(is_open(first));
  EXPECT_EQ(one.get(), second);
  const FileDescriptor three = std::move(one);
  EXPECT_TRUE(is_open(second));
}

TEST(FileDescriptor, WhoReleasesItCloses) {
  FileDescriptor file(open_null());
  const int number = file.release();
  EXPECT_FALSE(file);
  file.reset();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace ttmem
