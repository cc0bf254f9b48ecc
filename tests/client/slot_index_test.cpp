// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/slot_index.hpp"

#include <random>
#include <unordered_map>

#include <gtest/gtest.h>

namespace ttmem::client {
namespace {

// The index as the recorder uses it: memory is made ready before it is needed.
struct Index {
  SlotIndex slots;
  IndexOverflow overflow;
  std::vector<std::uint64_t> key_of;  // by value

  Index() {
    EXPECT_TRUE(overflow.reserve(1 << 16));
    EXPECT_TRUE(slots.open());
  }
  ~Index() { slots.give_back(); }
  static std::uint32_t tag(std::uint64_t key) { return static_cast<std::uint32_t>(mix(key)); }
  bool insert(std::uint64_t key, std::uint32_t value) {
    if (key_of.size() <= value) key_of.resize(value + 1);
    key_of[value] = key;
    overflow.prepare();
    if (slots.wants_preparation()) slots.prepare();
    return slots.insert(overflow, tag(key), value);
  }
  std::uint32_t find(std::uint64_t key) {
    return slots.find(overflow, tag(key), [&](std::uint32_t v) { return key_of[v] == key; });
  }
  std::uint32_t take(std::uint64_t key) {
    return slots.take(overflow, tag(key), [&](std::uint32_t v) { return key_of[v] == key; });
  }
};

TEST(SlotIndex, AgreesWithAMapOverRandomSteps) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Index index;
  std::unordered_map<std::uint64_t, std::uint32_t> model;
  std::uint32_t next = 0;
  for (int step = 0; step < 300000; ++step) {
    const std::uint64_t key = random() % 40000 * 4096;
    if (random() % 3 != 0 && !model.contains(key)) {
      ASSERT_TRUE(index.insert(key, next));
      model[key] = next++;
    } else if (model.contains(key)) {
      ASSERT_EQ(index.take(key), model[key]);
      model.erase(key);
    } else {
      ASSERT_EQ(index.find(key), SlotIndex::kNone);
    }
    ASSERT_EQ(index.slots.size(), model.size());
  }
  for (const auto& [key, value] : model) ASSERT_EQ(index.find(key), value);
}

TEST(SlotIndex, TakesEverythingOutByCursor) {
  Index index;
  for (std::uint32_t i = 0; i < 10000; ++i) ASSERT_TRUE(index.insert(i, i));
  std::vector<bool> seen(10000, false);
  std::uint32_t cursor = 0;
  for (std::uint32_t taken = 0; taken < 10000; ++taken) {
    const std::uint32_t value = index.slots.take_any(index.overflow, &cursor);
    ASSERT_LT(value, 10000u);
    ASSERT_FALSE(seen[value]);
    seen[value] = true;
  }
  EXPECT_EQ(index.slots.take_any(index.overflow, &cursor), SlotIndex::kNone);
  EXPECT_EQ(index.slots.size(), 0u);
}

TEST(SlotIndex, KeepsEntriesWithEqualTags) {
  Index index;
  constexpr std::uint32_t kEqual = 2000;
  for (std::uint32_t i = 0; i < kEqual; ++i) {
    index.overflow.prepare();
    ASSERT_TRUE(index.slots.insert(index.overflow, 42, i));
  }
  for (std::uint32_t i = 0; i < kEqual; ++i) {
    const auto is_it = [&](std::uint32_t value) { return value == i; };
    ASSERT_EQ(index.slots.find(index.overflow, 42, is_it), i);
  }
}

TEST(SlotIndex, TheNewestLiesBesideTheBucketsUntilItIsSettledOrTaken) {
  Index index;
  ASSERT_TRUE(index.insert(1, 10));
  index.key_of.resize(21);
  index.key_of[20] = 2;
  index.slots.set_newest(20);
  EXPECT_EQ(index.slots.size(), 2u);
  EXPECT_EQ(index.slots.newest(), 20u);
  EXPECT_EQ(index.find(2), SlotIndex::kNone) << "the caller looks there first";
  ASSERT_TRUE(index.slots.settle(index.overflow, Index::tag(2)));
  EXPECT_EQ(index.slots.newest(), SlotIndex::kNone);
  EXPECT_EQ(index.find(2), 20u);
  EXPECT_EQ(index.slots.size(), 2u);

  index.slots.set_newest(15);
  EXPECT_EQ(index.slots.take_newest(), 15u);
  EXPECT_EQ(index.slots.newest(), SlotIndex::kNone);
  index.slots.set_newest(16);
  std::uint32_t cursor = 0, sum = 0;
  for (int i = 0; i < 3; ++i) sum += index.slots.take_any(index.overflow, &cursor);
  EXPECT_EQ(sum, 10u + 20u + 16u);
  EXPECT_EQ(index.slots.size(), 0u);
}

TEST(SlotIndex, WithoutMemoryRefusesAndChangesNothing) {
  SlotIndex slots;
  IndexOverflow overflow;  // none was reserved
  ASSERT_TRUE(slots.open());
  std::uint32_t stored = 0;
  while (stored < 1000 && slots.insert(overflow, 7, stored)) ++stored;
  EXPECT_EQ(stored, IndexBucket::kEntries);
  EXPECT_EQ(slots.size(), stored);
  slots.set_newest(stored);
  EXPECT_FALSE(slots.settle(overflow, 7));
  EXPECT_EQ(slots.newest(), stored) << "it stays where it is";
  slots.give_back();
}

}  // namespace
}  // namespace ttmem::client
