// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/message.hpp"

#include <string>

#include <gtest/gtest.h>

namespace ttmem::explain {
namespace {

using ledger::Space;

constexpr const char* kOutOfMemory =
    "TT_THROW @ /project/tt_metal/impl/allocator/bank_manager.cpp:462: tt::exception\n"
    "info:\n"
    "Out of Memory: Not enough space to allocate 31457280 B L1 buffer across 64 banks, where each "
    "bank needs to store 491520 B, but bank size is 1393312 B (allocated: 655360 B, free: 737952 "
    "B, "
    "largest free block: 327680 B)";

TEST(Message, OutOfMemoryWithAllItsFigures) {
  const Message message = read_message(kOutOfMemory);
  EXPECT_EQ(message.kind, MessageKind::kOutOfMemory);
  EXPECT_EQ(message.space, Space::kL1);
  EXPECT_EQ(message.requested, 31457280u);
  EXPECT_EQ(message.banks, 64u);
  EXPECT_EQ(message.per_bank, 491520u);
  EXPECT_EQ(message.bank, 1393312u);
  EXPECT_EQ(message.held, 655360u);
  EXPECT_EQ(message.free, 737952u);
  EXPECT_EQ(message.largest, 327680u);
}

TEST(Message, OfAnOlderReleaseEndsEarlier) {
  const Message message = read_message(
      "Out of Memory: Not enough space to allocate 270336 B L1_SMALL buffer across 8 banks, where "
      "each bank needs to store 33792 B, but bank size is only 32768 B");
  EXPECT_EQ(message.kind, MessageKind::kOutOfMemory);
  EXPECT_EQ(message.space, Space::kL1Small);
  EXPECT_EQ(message.per_bank, 33792u);
  EXPECT_EQ(message.bank, 32768u);
  EXPECT_FALSE(message.held);
  EXPECT_FALSE(message.largest);
}

TEST(Message, OfAnAllocatorWithListsPerCore) {
  const Message message = read_message(
      "Out of Memory: Not enough space after considering dependencies to allocate 10485760 B L1 "
      "across "
      "64 banks (163840 B per bank), bank size is 1393312 B (allocated: 1310720 B, free: 82592 B, "
      "largest free block: 82592 B). After subtracting 0 dependency range(s) and 0 additional "
      "occupied "
      "range(s), 0 B remained placeable across 0 window(s), largest 0 B.");
  EXPECT_EQ(message.kind, MessageKind::kOutOfMemory);
  EXPECT_EQ(message.space, Space::kL1);
  EXPECT_EQ(message.banks, 64u);
  EXPECT_EQ(message.per_bank, 163840u);
  EXPECT_EQ(message.bank, 1393312u);
  EXPECT_EQ(message.largest, 82592u);
}

TEST(Message, ClashesOfBothWordsAndBothWaysToWriteCores) {
  const Message today = read_message(
      "Statically allocated dataflow buffers in program 12 clash with L1 buffers on core range "
      "[0-0 - 7-3]. L1 buffer allocated at 122880 and static dataflow buffer region ends at "
      "660832");
  EXPECT_EQ(today.kind, MessageKind::kClash);
  EXPECT_EQ(today.cores, "0,0-7,3");
  EXPECT_EQ(today.lowest_buffer, 122880u);
  EXPECT_EQ(today.region_end, 660832u);
  const Message before = read_message(
      "Statically allocated circular buffers in program 3 clash with L1 buffers on core range "
      "[(x=0,y=0) - (x=7,y=7)]. L1 buffer allocated at 104448 and static circular buffer region "
      "ends "
      "at 107936");
  EXPECT_EQ(before.kind, MessageKind::kClash);
  EXPECT_EQ(before.cores, "0,0-7,7");
  EXPECT_EQ(*before.region_end - *before.lowest_buffer, 3488u);
}

TEST(Message, TheOtherLimits) {
  const Message large = read_message(
      "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 2292704 B which is "
      "beyond max L1 size of 1499136 B");
  EXPECT_EQ(large.kind, MessageKind::kProgramTooLarge);
  EXPECT_EQ(large.needed, 2292704u);
  EXPECT_EQ(large.limit, 1499136u);
  EXPECT_EQ(large.cores, "0,0-7,7");
  const Message ring =
      read_message("Program size (80992) too large for kernel config buffer (70656) on TENSIX");
  EXPECT_EQ(ring.kind, MessageKind::kRing);
  EXPECT_EQ(ring.needed, 80992u);
  EXPECT_EQ(ring.limit, 70656u);
  const Message trace = read_message(
      "Creating trace buffers of size 25600000B on MeshDevice 1, but only 23887872B is allocated "
      "for "
      "trace region.");
  EXPECT_EQ(trace.kind, MessageKind::kTraceRegion);
  EXPECT_EQ(trace.needed, 25600000u);
  EXPECT_EQ(trace.limit, 23887872u);
}

TEST(Message, BrokenAndUnknownOnesAreNoGuess) {
  EXPECT_EQ(read_message("").kind, MessageKind::kOther);
  EXPECT_EQ(read_message("LayerNorm streaming circular buffers require 5 bytes, but only 4").kind,
            MessageKind::kOther);
  EXPECT_EQ(read_message("the device is on fire").kind, MessageKind::kOther);
  const Message cut = read_message("Out of Memory: Not enough space to allocate 12");
  EXPECT_EQ(cut.kind, MessageKind::kOutOfMemory);
  EXPECT_FALSE(cut.per_bank);
  const Message huge = read_message(
      "Out of Memory: Not enough space to allocate 99999999999999999999999999 B DRAM buffer across "
      "12 "
      "banks, where each bank needs to store -4 B");
  EXPECT_FALSE(huge.requested);
  EXPECT_FALSE(huge.per_bank);
}

// Whatever is cut off or changed, reading ends and says no more than is there.
TEST(Message, EveryPrefixIsRead) {
  const std::string text = kOutOfMemory;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const Message message = read_message(std::string_view(text).substr(0, length));
    if (message.largest) {
      EXPECT_TRUE(message.per_bank && message.bank && message.free);
    }
  }
}

}  // namespace
}  // namespace ttmem::explain
