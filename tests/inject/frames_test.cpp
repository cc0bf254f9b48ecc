// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reading frames, piece by piece, on stacks that are made up. That the pieces fit the interpreters
// of this world is shown by tests/python, in each of them.
#include <gtest/gtest.h>

#include "inject/frames/code_digests.hpp"
#include "inject/frames/describe.hpp"
#include "inject/frames/memory.hpp"
#include "inject/frames/operations.hpp"
#include "inject/frames/origin_cache.hpp"
#include "inject/frames/stack_key.hpp"
#include "inject/made_up_stack.hpp"
#include "support/sanitized.hpp"

namespace ttmem::inject::frames {
namespace {

// ---- lines -----------------------------------------------------------------------------------

std::optional<std::int64_t> line(LineFormat format, const std::vector<std::uint8_t>& table,
                                 std::int64_t instruction) {
  const DirectMemory memory;
  TableBytes bytes(memory, reinterpret_cast<Address>(table.data()), table.size());
  return line_at(format, bytes, 1, instruction);
}

//  1 def forward(x):
//  2     a = x + 1
//  5     if a:
//  6         for i in range(3):
//  7             a += (i
//  8                   * 2)
//  9     with open(a) as f:
// 10         pass
// 11     return a
const std::vector<std::uint8_t> kOf39 = {0x00, 0x01, 0x08, 0x03, 0x04, 0x01, 0x0C, 0x01, 0x04,
                                         0x01, 0x02, 0xFF, 0x08, 0x02, 0x0A, 0x01, 0x1E, 0x01};
const std::vector<std::uint8_t> kOf310 = {0x08, 0x01, 0x04, 0x03, 0x0C, 0x01, 0x04, 0x01,
                                          0x02, 0x01, 0x08, 0xFF, 0x0A, 0x02, 0x02, 0x01,
                                          0x0A, 0xFF, 0x04, 0x02, 0x10, 0xFE, 0x04, 0x02};
const std::vector<std::uint8_t> kOf312 = {
    0x80, 0x00, 0xD8, 0x08, 0x09, 0x88, 0x41, 0x89, 0x05, 0x80, 0x41, 0xF1, 0x06, 0x00, 0x08, 0x09,
    0xDC, 0x11, 0x16, 0x90, 0x71, 0x93, 0x18, 0xF2, 0x00, 0x02, 0x09, 0x17, 0x88, 0x41, 0xD8, 0x0C,
    0x0D, 0x90, 0x21, 0xD8, 0x14, 0x15, 0xF1, 0x03, 0x01, 0x13, 0x16, 0xF1, 0x00, 0x01, 0x0D, 0x17,
    0x89, 0x41, 0xF0, 0x03, 0x02, 0x09, 0x17, 0xF4, 0x06, 0x00, 0x0A, 0x0E, 0x88, 0x61, 0x8B, 0x17,
    0xF0, 0x00, 0x01, 0x05, 0x0D, 0x90, 0x41, 0xD8, 0x08, 0x0C, 0xF7, 0x03, 0x01, 0x05, 0x0D, 0xE0,
    0x0B, 0x0C, 0x80, 0x48, 0xF7, 0x05, 0x01, 0x05, 0x0D, 0xE0, 0x0B, 0x0C, 0x80, 0x48, 0xFA};

TEST(LineTable, Of39) {
  const std::pair<int, int> starts[] = {{0, 2},  {8, 5},  {12, 6},  {24, 7},  {28, 8},
                                        {30, 7}, {38, 9}, {48, 10}, {78, 11}, {80, 11}};
  for (const auto& [at, expected] : starts) {
    EXPECT_EQ(line(LineFormat::kIncrements, kOf39, at), expected) << at;
  }
  EXPECT_EQ(line(LineFormat::kIncrements, kOf39, -1), 1) << "not begun";
}

TEST(LineTable, Of310) {
  const std::pair<int, int> starts[] = {{0, 2},   {6, 2},  {8, 5},   {12, 6},  {24, 7},
                                        {28, 8},  {30, 7}, {38, 9},  {48, 10}, {50, 9},
                                        {60, 11}, {64, 9}, {80, 11}, {82, 11}};
  for (const auto& [at, expected] : starts) {
    EXPECT_EQ(line(LineFormat::kRanges, kOf310, at), expected) << at;
  }
  EXPECT_EQ(line(LineFormat::kRanges, kOf310, 84), std::nullopt) << "beyond the end";
  EXPECT_EQ(line(LineFormat::kRanges, {4, 0x80, 4, 1}, 2), std::nullopt) << "of no line";
  EXPECT_EQ(line(LineFormat::kRanges, {4, 0x80, 4, 1}, 4), 2);
}

TEST(LineTable, Of312) {
  const std::pair<int, int> starts[] = {{0, 1},  {2, 2},    {12, 5},  {16, 6},  {44, 7},
                                        {48, 8}, {50, 7},   {62, 6},  {64, 9},  {88, 10},
                                        {90, 9}, {106, 11}, {110, 9}, {126, 11}};
  for (const auto& [at, expected] : starts) {
    EXPECT_EQ(line(LineFormat::kLocations, kOf312, at), expected) << at;
  }
  EXPECT_EQ(line(LineFormat::kLocations, kOf312, 130), std::nullopt) << "of no line";
  EXPECT_EQ(line(LineFormat::kLocations, kOf312, 136), std::nullopt) << "beyond the end";
}

TEST(LineTable, ATableThatEndsTooEarlyHasNoLine) {
  for (std::size_t size = 0; size < kOf312.size(); ++size) {
    const std::vector<std::uint8_t> cut(kOf312.begin(),
                                        kOf312.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(line(LineFormat::kLocations, cut, 1000), std::nullopt);
  }
  EXPECT_EQ(line(LineFormat::kLocations, {0xF0, 0x40, 0x40}, 0), std::nullopt) << "half a number";
}

// ---- whole stacks, in every layout -----------------------------------------------------------

class EveryLayout : public testing::TestWithParam<unsigned> {
 protected:
  EveryLayout() : stack(*layout_of(GetParam())) {
    lines_ = two_lines(stack.interpreter.layout.lines);
  }
  Address code(const std::u32string& file, const std::u32string& function, int first_line) {
    return stack.code(file, function, first_line, lines_);
  }
  std::vector<std::string> told() {
    std::vector<std::string> found;
    walked = walk(stack.interpreter, stack.memory, stack.thread, [&](const Frame& frame, Address) {
      Description description;
      if (!describe(stack.interpreter, stack.memory, frame, description)) return false;
      found.push_back(std::string(description.file.view()) + ":" +
                      std::to_string(description.line) + " " +
                      std::string(description.function.view()));
      return true;
    });
    return found;
  }
  StackKey key() {
    KeyMaker maker(0);
    walk(stack.interpreter, stack.memory, stack.thread, [&](const Frame& frame, Address) {
      return add_frame(stack.interpreter, stack.memory, frame, maker);
    });
    return maker.key();
  }
  MadeUpStack stack;
  Walked walked = Walked::kOdd;

 private:
  std::vector<std::uint8_t> lines_;
};

TEST_P(EveryLayout, AStackIsReadFromTheInside) {
  stack.call(code(U"main.py", U"<module>", 1), 0);
  stack.call(code(U"model.py", U"forward", 80), 4);
  EXPECT_EQ(told(), (std::vector<std::string>{"model.py:84 forward", "main.py:2 <module>"}));
  EXPECT_EQ(walked, Walked::kWhole);
}

TEST_P(EveryLayout, NoFramesIsAStackAsWell) {
  EXPECT_EQ(told(), std::vector<std::string>());
  EXPECT_EQ(walked, Walked::kWhole);
}

TEST_P(EveryLayout, TextsOfEveryWidthBecomeUtf8) {
  stack.call(code(U"<\u00e9\u4e2d\U0001f600>", U"\u00e4", 1), 0);
  std::u32string odd = U"/a";
  odd.push_back(0xDC80);  // a byte that was no UTF-8
  odd.push_back(0xD800);
  stack.call(code(odd, U"f", 1), 0);
  EXPECT_EQ(told(), (std::vector<std::string>{"/a\x80?:2 f", "<é中😀>:2 ä"}));
}

TEST_P(EveryLayout, OfALongFileNameTheEndIsTold) {
  stack.call(code(std::u32string(5000, U'x') + U"/a.py", U"f", 1), 0);
  ASSERT_EQ(told().size(), 1u);
  EXPECT_EQ(told()[0], std::string(995, 'x') + "/a.py:2 f");
}

TEST_P(EveryLayout, ADeepStackIsCut) {
  const Address made = code(U"a.py", U"f", 1);
  for (int i = 0; i < 64; ++i) stack.call(made, 0);
  EXPECT_EQ(told().size(), 64u);
  EXPECT_EQ(walked, Walked::kWhole);
  stack.call(made, 0);
  EXPECT_EQ(told().size(), 64u);
  EXPECT_EQ(walked, Walked::kCut);
}

TEST_P(EveryLayout, FramesWithoutCodeOfTheProgramArePassedOver) {
  if (stack.interpreter.layout.first_shim == 0xFF) GTEST_SKIP() << "this release has none";
  stack.call(code(U"main.py", U"<module>", 1), 0);
  stack.call(0, 0, 3);
  stack.call(code(U"model.py", U"forward", 80), 4);
  EXPECT_EQ(told(), (std::vector<std::string>{"model.py:84 forward", "main.py:2 <module>"}));
}

TEST_P(EveryLayout, ACircleEnds) {
  const Address outer = stack.call(code(U"a.py", U"f", 1), 0);
  const Address inner = stack.call(code(U"a.py", U"g", 1), 0);
  stack.memory.write(outer + stack.interpreter.layout.frame_back, inner);
  told();
  EXPECT_EQ(walked, Walked::kCut);
}

TEST_P(EveryLayout, WhatIsNoCodeEndsTheWalk) {
  const Address made = code(U"a.py", U"f", 1);
  stack.call(made, 0);
  stack.memory.write(made + kObjectType, Address{0x5000});
  told();
  EXPECT_EQ(walked, Walked::kOdd);
}

TEST_P(EveryLayout, OtherCodeInTheSamePlaceIsAnotherKey) {
  const Layout& layout = stack.interpreter.layout;
  const Address made = code(U"a.py", U"f", 1);
  stack.call(made, 0);
  const StackKey before = key();
  EXPECT_EQ(key(), before);
  const auto spoiled = [&](auto spoil) {
    const std::vector<std::uint8_t> kept = stack.memory.content();
    spoil();
    const StackKey after = key();
    stack.memory.content() = kept;
    return after;
  };
  if (layout.code_serial != kNone) {
    EXPECT_NE(spoiled([&] { stack.memory.write(made + layout.code_serial, 77u); }), before);
    return;
  }
  EXPECT_NE(spoiled([&] { stack.memory.write(made + layout.code_first_line, 2); }), before);
  // Every pointer is the same: only what they point to has changed.
  Address table = 0;
  Address file = 0;
  Address function = 0;
  stack.memory.read(made + layout.code_lines, table);
  stack.memory.read(made + layout.code_file, file);
  stack.memory.read(made + layout.code_function, function);
  const auto byte = [&](Address at) { stack.memory.write(at, std::uint8_t{'b'}); };
  EXPECT_NE(spoiled([&] { byte(table + kBytesStart + 1); }), before);
  EXPECT_NE(spoiled([&] { byte(file + layout.ascii_bytes); }), before);
  EXPECT_NE(spoiled([&] { byte(function + layout.ascii_bytes); }), before);
  EXPECT_EQ(key(), before);
}

INSTANTIATE_TEST_SUITE_P(Frames, EveryLayout,
                         testing::Values(0x0308, 0x0309, 0x030A, 0x030B, 0x030C, 0x030D, 0x030E),
                         [](const auto& layout) {
                           return "of_3_" + std::to_string(layout.param & 255);
                         });

TEST(Layouts, OtherReleasesAreNotKnown) {
  for (const unsigned version : {0x0000u, 0x0307u, 0x030Fu, 0x0400u}) {
    EXPECT_EQ(layout_of(version), nullptr);
  }
}

TEST(Layouts, WhatAnInterpreterPublishesIsTaken) {
  std::uint64_t words[kPublishedWords] = {};
  Layout layout = *layout_of(0x030D);
  EXPECT_FALSE(take_published(layout, words)) << "no cookie";
  std::memcpy(words, "xdebugpy", 8);
  words[1] = 0x030D00F0;
  words[28 + 5] = 99;
  words[34 + 7] = 96;
  words[34 + 9] = layout.code_start;
  EXPECT_TRUE(take_published(layout, words));
  EXPECT_EQ(layout.frame_owner, 99);
  EXPECT_EQ(layout.code_serial, 92);
  words[34 + 7] = 104;
  EXPECT_TRUE(take_published(layout, words));
  EXPECT_EQ(layout.code_serial, kNone) << "it may have moved with its neighbour";
  words[28 + 5] = 1u << 20;
  EXPECT_FALSE(take_published(layout, words));
  words[28 + 5] = 70;
  words[2] = 1;
  EXPECT_FALSE(take_published(layout, words)) << "free-threaded";
}

// ---- the rest --------------------------------------------------------------------------------

TEST(CheckedMemoryTest, ReadsWhatIsThereAndNothingElse) {
  ASSERT_TRUE(CheckedMemory::works());
  const CheckedMemory memory;
  const std::uint64_t there = 42;
  std::uint64_t seen = 0;
  EXPECT_TRUE(memory.read(reinterpret_cast<Address>(&there), seen));
  EXPECT_EQ(seen, 42u);
  EXPECT_FALSE(memory.read(Address{8}, seen));
  EXPECT_EQ(memory.bytes(Address{8}, 4), nullptr);
}

TEST(OriginCacheTest, FindsWhatWasPutAndForgetsTheOldest) {
  OriginCache cache;
  ASSERT_TRUE(cache.open());
  const auto key = [](std::uint64_t number) { return KeyMaker(number).key(); };
  std::uint32_t value = 1;
  EXPECT_FALSE(cache.find(key(1), value));
  cache.put(key(1), 0);
  EXPECT_TRUE(cache.find(key(1), value));
  EXPECT_EQ(value, 0u) << "that there is nothing is worth knowing, too";
  unsigned found = 0;
  constexpr std::uint32_t kMany = 20000;
  for (std::uint32_t i = 0; i < kMany; ++i) cache.put(key(i), i);
  for (std::uint32_t i = 0; i < kMany; ++i) {
    if (!cache.find(key(i), value)) continue;
    ++found;
    ASSERT_EQ(value, i);
  }
  EXPECT_GT(found, 10000u);
  EXPECT_LE(found, 16384u);
}

TEST(OperationsTest, AnObjectHasItsLastName) {
  static Operations operations;
  EXPECT_EQ(operations.name(0x100), nullptr);
  {
    const support::MayLeak replaced;  // readers may have the old name
    operations.set_name(0x100, "ttnn.add");
  }
  operations.set_name(0x200, "ttnn.multiply");
  EXPECT_STREQ(operations.name(0x100), "ttnn.add");
  operations.set_name(0x100, "ttnn.subtract");
  EXPECT_STREQ(operations.name(0x100), "ttnn.subtract");
  for (Address object = 0x1000; object < 0x1000 + 16 * 4000; object += 16) {
    operations.set_name(object, "ttnn.other");
  }
  EXPECT_STREQ(operations.name(0x200), "ttnn.multiply");
  EXPECT_FALSE(operations.calls().has(0x300));
  operations.set_call(0x300);
  EXPECT_TRUE(operations.calls().has(0x300));
}

// ---- code objects by address -----------------------------------------------------------------

int freed = 0;
void free_code(void*) { ++freed; }
void free_otherwise(void*) {}

TEST(CodeDigests, AnAddressIsKnownUntilItsObjectIsFreed) {
  static void (*type[7])(void*) = {};  // as far as the function that frees
  type[6] = free_code;
  code_digests.follow(reinterpret_cast<Address>(type));
  ASSERT_NE(type[6], free_code);
  EXPECT_FALSE(code_digests.are_followed()) << "nobody has shown yet that the place is used";
  int objects[2];
  type[6](&objects[0]);
  EXPECT_EQ(freed, 1) << "the object is freed as before";
  EXPECT_TRUE(code_digests.are_followed());

  const auto code = reinterpret_cast<Address>(&objects[1]);
  std::uint64_t digest = 0;
  EXPECT_FALSE(code_digests.find(code, digest));
  code_digests.put(code, 7);
  EXPECT_TRUE(code_digests.find(code, digest));
  EXPECT_EQ(digest, 7u);
  EXPECT_FALSE(code_digests.find(code + 16, digest));
  type[6](&objects[1]);
  EXPECT_FALSE(code_digests.find(code, digest)) << "the place may be used again";

  const std::uint64_t age = code_digests.age();
  type[6](&objects[0]);
  EXPECT_EQ(code_digests.age(), age) << "it was in no stack";
  code_digests.see(code);
  EXPECT_EQ(code_digests.age(), age);
  type[6](&objects[1]);
  EXPECT_NE(code_digests.age(), age) << "stacks with it are void";
  const std::uint64_t next = code_digests.age();
  type[6](&objects[1]);
  EXPECT_EQ(code_digests.age(), next) << "it was in no stack of this age";

  type[6] = free_otherwise;
  EXPECT_FALSE(code_digests.are_followed()) << "objects are freed behind our back";
}

}  // namespace
}  // namespace ttmem::inject::frames
