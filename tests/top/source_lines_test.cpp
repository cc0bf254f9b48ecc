// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The text of a line is that of the file that ran, or none.
#include "top/source_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace ttmem::top {
namespace {

constexpr ledger::TimeNs kWritten = 1'700'000'000'000'000'000;

class SourceText : public testing::Test {
 protected:
  SourceText() { write("model.py", kWritten); }

  // Two lines, last changed at that time.
  void write(const std::string& name, ledger::TimeNs at) const {
    std::ofstream(path(name)) << "import ttnn\n    x = ttnn.ones(shape)  \n";
    const timespec time = {static_cast<time_t>(at / 1'000'000'000), 0};
    const timespec both[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path(name).c_str(), both, 0), 0);
  }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string text(const std::string& step, ledger::TimeNs since) {
    return lines_.text_of(path(step), {host_, since});
  }
  static std::string host() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  }

  SourceLines lines_;
  std::string host_ = host();

 private:
  support::TemporaryDirectory directory_;
};

TEST_F(SourceText, IsThatOfTheLineWithoutTheSpacesAroundIt) {
  EXPECT_EQ(text("model.py:2 forward", kWritten + 1), "x = ttnn.ones(shape)");
  EXPECT_EQ(text("model.py:3 forward", kWritten + 1), "");
  EXPECT_EQ(text("missing.py:2 forward", kWritten + 1), "");
}

TEST_F(SourceText, OfAFileThatChangedSinceTheProcessBeganIsNotTold) {
  EXPECT_EQ(text("model.py:2 forward", kWritten - 1), "");
  EXPECT_NE(text("model.py:2 forward", kWritten + 1), "");
  write("model.py", kWritten + 2'000'000'000);
  EXPECT_EQ(text("model.py:2 forward", kWritten + 1), "");
}

TEST_F(SourceText, OfAnotherHostIsNotTold) {
  host_ += "-2";
  EXPECT_EQ(text("model.py:2 forward", kWritten + 1), "");
}

}  // namespace
}  // namespace ttmem::top
