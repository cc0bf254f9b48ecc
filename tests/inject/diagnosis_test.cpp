// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "inject/doctor/diagnosis.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "inject/doctor/elf_symbols.hpp"
#include "inject/doctor/find_library.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::inject {
namespace {

TEST(Diagnosis, OfALibraryWithoutAnyHookLosesEverything) {
  const auto places = find_libraries({"/proc/self/exe"});
  ASSERT_TRUE(places) << places.error().message;
  EXPECT_TRUE(places->empty()) << "this test is not linked to TT-Metal";
  const auto diagnosis = diagnose("/proc/self/exe");
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_EQ(diagnosis->bound(), 0u);
  const auto lost = diagnosis->lost();
  EXPECT_NE(std::find(lost.begin(), lost.end(), "buffers"), lost.end());
  EXPECT_EQ(std::set<std::string>(lost.begin(), lost.end()).size(), lost.size());
}

TEST(Diagnosis, OfSomethingElseSaysWhatIsWrong) {
  EXPECT_NE(diagnose("/no/such/file").error().message.find("cannot read"), std::string::npos);
  EXPECT_NE(diagnose("/etc/passwd").error().message.find("not a 64-bit"), std::string::npos);
}

TEST(ElfSymbols, ACutOffFileIsRefusedOrReadPartly) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "cut-off.so";
  std::ifstream whole("/proc/self/exe", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  for (std::size_t length = 0; length < bytes.size(); length += bytes.size() / 37 + 1) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(length));
    const auto symbols = read_symbols(path);
    EXPECT_TRUE(symbols || !symbols.error().message.empty());
  }
}

TEST(ElfSymbols, TellDefinedFromWanted) {
  const auto symbols = read_symbols("/proc/self/exe");
  ASSERT_TRUE(symbols);
  // Of the C++ library, because a sanitizer brings its own of libc.
  const auto wanted = symbols->find("__cxa_begin_catch");
  ASSERT_NE(wanted, symbols->end());
  EXPECT_FALSE(wanted->second.defined);
}

}  // namespace
}  // namespace ttmem::inject
