// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Words of a loaded library that lead into another one, and what replacing them does.
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "inject/patch/relocations.h"
int ttmem_test_callee(void);
int ttmem_test_call(void);
int ttmem_test_call_by_table(void);
}

namespace {

int instead() { return 2; }

struct Request {
  void* value;
  ttmem_relocation_counts counts{};
};

void* replacement(const char* name, void* context) {
  return std::strcmp(name, "ttmem_test_callee") == 0 ? context : nullptr;
}

int visit(dl_phdr_info* library, std::size_t, void* data) {
  auto* request = static_cast<Request*>(data);
  if (!std::strstr(library->dlpi_name, "libttmem_test_caller")) return 0;
  request->counts = ttmem_relocations_replace(library, replacement, request->value);
  return 1;
}

ttmem_relocation_counts replace_by(int (*function)()) {
  Request request{reinterpret_cast<void*>(function)};
  dl_iterate_phdr(visit, &request);
  return request.counts;
}

int count_writable_and_executable() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) {
    found += line.find("libttmem_test_caller") != std::string::npos &&
             line.find("rwx") != std::string::npos;
  }
  return found;
}

int count_writable() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) {
    found += line.find("libttmem_test_caller") != std::string::npos &&
             line.find(" rw-p ") != std::string::npos;
  }
  return found;
}

TEST(Patch, CallsByNameAndThroughTablesGoToTheReplacementAndBack) {
  ASSERT_EQ(ttmem_test_call(), 1);
  ASSERT_EQ(ttmem_test_call_by_table(), 1);
  const int writable = count_writable();

  const ttmem_relocation_counts there = replace_by(instead);
  EXPECT_EQ(ttmem_test_call(), 2);
  EXPECT_EQ(ttmem_test_call_by_table(), 2);
  EXPECT_EQ(there.found, 2u);
  EXPECT_EQ(there.written, 2u);
  EXPECT_GE(there.unprotected, 1u);  // the table; the other one too in a library bound at once
  EXPECT_EQ(there.failed, 0u);
  EXPECT_EQ(ttmem_test_callee(), 1);  // our own word was not asked for

  const ttmem_relocation_counts again = replace_by(instead);
  EXPECT_EQ(again.found, 2u);
  EXPECT_EQ(again.written, 0u);

  const ttmem_relocation_counts back = replace_by(ttmem_test_callee);
  EXPECT_EQ(back.written, 2u);
  EXPECT_EQ(ttmem_test_call(), 1);
  EXPECT_EQ(ttmem_test_call_by_table(), 1);
  EXPECT_EQ(count_writable(), writable);  // what was read-only is so again
  EXPECT_EQ(count_writable_and_executable(), 0);
}

TEST(Patch, NamesWithoutAReplacementAreLeftAlone) {
  Request request{nullptr};
  dl_iterate_phdr(visit, &request);
  EXPECT_EQ(request.counts.found, 0u);
  EXPECT_EQ(ttmem_test_call(), 1);
}

}  // namespace
