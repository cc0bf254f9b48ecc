// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The native stack against the one that the C library tells, and tables that are spoilt.
#include <execinfo.h>

#include <algorithm>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "inject/native/modules.hpp"
#include "inject/native/stack.hpp"

namespace ttmem::inject::native {
namespace {

using Calls = std::vector<std::uintptr_t>;

// Both of the same moment. The innermost frames differ: each has its own.
struct Told {
  Calls ours, theirs;
  bool whole = false;
};

[[gnu::noinline]] void tell(Told& told) {
  NativeStack stack;
  read_stack(stack);
  told.ours.assign(stack.calls, stack.calls + stack.count);
  told.whole = stack.whole;
  void* addresses[256];
  const int count = ::backtrace(addresses, 256);
  for (int i = 0; i < count; ++i) {
    told.theirs.push_back(reinterpret_cast<std::uintptr_t>(addresses[i]) - 1);
  }
  told.ours.erase(told.ours.begin());
  told.theirs.erase(told.theirs.begin());
}

// Functions of several shapes: with arguments on the stack, with a stack whose size is not known
// before, and one that calls itself.
[[gnu::noinline]] void with_a_frame_pointer(unsigned bytes, Told& told) {
  auto* memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  memory[0] = 1;
  tell(told);
  memory[bytes - 1] = 2;
}

[[gnu::noinline]] int deep(int depth, long a, long b, long c, long d, long e, long f, Told& told) {
  if (depth == 0) {
    with_a_frame_pointer(1000 + static_cast<unsigned>(a), told);
    return 1;
  }
  const int inside = deep(depth - 1, b, c, d, e, f, a, told);
  asm volatile("" : : "r"(inside));  // else the compiler makes a loop of it
  return inside + depth;
}

// A sanitizer puts a function of its own between us and the C library.
void leave_out_who_asks(Told& told) {
  const bool is_asked = told.theirs.size() > 1 && !told.ours.empty() &&
                        told.theirs[0] != told.ours[0] && told.theirs[1] == told.ours[0];
  if (is_asked) told.theirs.erase(told.theirs.begin());
}

// Theirs ends where it finds no table; ours at least there.
void expect_equal(Told& told) {
  leave_out_who_asks(told);
  const std::size_t count = std::min(told.ours.size(), told.theirs.size());
  ASSERT_GE(count, 5u);
  EXPECT_EQ(Calls(told.ours.begin(), told.ours.begin() + static_cast<std::ptrdiff_t>(count)),
            Calls(told.theirs.begin(), told.theirs.begin() + static_cast<std::ptrdiff_t>(count)));
  EXPECT_GE(told.ours.size() + 1, told.theirs.size());
  EXPECT_TRUE(told.whole);
}

TEST(NativeStack, IsTheOneThatTheCLibraryTells) {
  Told told;
  deep(5, 1, 2, 3, 4, 5, 6, told);
  expect_equal(told);
}

TEST(NativeStack, OfAThread) {
  Told told;
  std::thread([&] { deep(3, 1, 2, 3, 4, 5, 6, told); }).join();
  expect_equal(told);
}

TEST(NativeStack, OfADeepOneTheInnermostFrames) {
  Told told;
  deep(200, 1, 2, 3, 4, 5, 6, told);
  EXPECT_EQ(told.ours.size(), kMostNativeFrames - 1);
  EXPECT_FALSE(told.whole);
  leave_out_who_asks(told);
  EXPECT_TRUE(std::equal(told.ours.begin(), told.ours.end(), told.theirs.begin()));
}

TEST(Modules, KnowThePlaceOfAFunction) {
  Module module;
  ASSERT_TRUE(find_module(reinterpret_cast<std::uintptr_t>(&deep), module));
  EXPECT_STREQ(module.path, "") << "the program itself";
  EXPECT_NE(module.unwinding.header, 0u);
  EXPECT_FALSE(find_module(8, module));
}

// ---- tables ----------------------------------------------------------------------------------

// Of a whole segment of the program: AddressSanitizer keeps gaps between what stands in it.
__attribute__((no_sanitize("address"))) std::vector<std::uint8_t> copy_of(
    std::span<const std::uint8_t> memory) {
  std::vector<std::uint8_t> copied(memory.size());
  const volatile std::uint8_t* from = memory.data();
  for (std::size_t i = 0; i < memory.size(); ++i) copied[i] = from[i];
  return copied;
}

class Spoilt : public testing::Test {
 protected:
  Spoilt() {
    Module module;
    find_module(reinterpret_cast<std::uintptr_t>(&deep), module);
    const UnwindTable& whole = module.unwinding;
    original_ = whole;
    copy = copy_of(whole.memory);
    moved_ = reinterpret_cast<std::uintptr_t>(copy.data()) -
             reinterpret_cast<std::uintptr_t>(whole.memory.data());
    table.memory = copy;
    table.header = whole.header + moved_;
  }
  // A rule at many places of the program, whatever the bytes of the table are now.
  Rule rule(std::uintptr_t instruction) const { return rule_at(table, instruction + moved_); }

  std::vector<std::uint8_t> copy;
  UnwindTable table, original_;
  std::uintptr_t moved_ = 0;
};

TEST_F(Spoilt, ACopyOfATableSaysTheSame) {
  const auto start = reinterpret_cast<std::uintptr_t>(&deep);
  int known = 0;
  for (std::uintptr_t at = start; at < start + 4096; ++at) {
    EXPECT_EQ(rule(at), rule_at(original_, at));
    known += rule(at).known;
  }
  EXPECT_GT(known, 1000);
}

TEST_F(Spoilt, AnyBytesAreReadWithinTheTableAndEnd) {
  std::mt19937 random(7);
  const auto start = reinterpret_cast<std::uintptr_t>(&deep);
  const std::size_t header = table.header - reinterpret_cast<std::uintptr_t>(copy.data());
  for (int round = 0; round < 3000; ++round) {
    const std::size_t near = random() % 2 == 0 ? header + random() % 64 : random() % copy.size();
    const std::size_t place = std::min(near, copy.size() - 1);
    const std::uint8_t before = std::exchange(copy[place], static_cast<std::uint8_t>(random()));
    for (int i = 0; i < 16; ++i) rule(start + random() % 65536);
    if (round % 100 != 99) copy[place] = before;  // some stay
  }
  table.memory = table.memory.first(header);
  EXPECT_FALSE(rule(start).known) << "cut off";
}

}  // namespace
}  // namespace ttmem::inject::native
