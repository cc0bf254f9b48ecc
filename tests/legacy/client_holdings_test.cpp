// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One client's holdings: the totals are the sums of what is live, whatever comes.
#include "legacy/client_holdings.hpp"

#include <random>

#include <gtest/gtest.h>

namespace ttmem::legacy {
namespace {

using What = ClientHoldings::Allocated::What;

TEST(ClientHoldings, ReferencesReplacementsAndKinds) {
  Tallies totals;
  ClientHoldings holdings(totals);
  EXPECT_EQ(holdings.allocate({0, 1}, 0, 100).what, What::kNew);
  EXPECT_EQ(holdings.allocate({0, 1}, 0, 100).references, 2u);
  EXPECT_EQ(holdings.allocate({0, 1}, 1, 7).what, What::kNew);
  EXPECT_EQ(totals[0].bytes[0], 100u);
  EXPECT_EQ(totals[0].bytes[1], 7u);
  const auto freed = holdings.free({0, 1});
  ASSERT_TRUE(freed);
  EXPECT_TRUE(freed->ambiguous);
  EXPECT_EQ(freed->buffer.kind, 1);
  EXPECT_EQ(holdings.allocate({0, 1}, 0, 300).what, What::kReplaced);
  EXPECT_EQ(totals[0].bytes[0], 300u);
  EXPECT_EQ(holdings.free({0, 1})->buffer.references, 0u);
  EXPECT_FALSE(holdings.free({0, 1}));
  EXPECT_TRUE(totals[0].empty());
}

TEST(ClientHoldings, CircularBuffersAreFreedBySizeElseTheNewest) {
  Tallies totals;
  ClientHoldings holdings(totals);
  for (const std::uint64_t size : {4096u, 6144u, 8192u}) holdings.add_cb({0, 101152}, size);
  EXPECT_EQ(holdings.remove_cb({0, 101152}, 6144)->size, 6144u);
  EXPECT_EQ(holdings.remove_cb({0, 101152}, 1)->size, 8192u);
  EXPECT_EQ(holdings.remove_cb({0, 101152}, 4096)->size, 4096u);
  EXPECT_FALSE(holdings.remove_cb({0, 101152}, 4096));
}

std::uint64_t covered_bytes(const ClientHoldings& holdings, std::int32_t device) {
  std::map<std::int32_t, std::uint64_t> covered;
  add_covered_bytes(holdings, covered);
  return covered[device];
}

// T25 without cores, which the protocol does not tell: one address range a registration.
TEST(ClientHoldings, TheUnionOfCircularBuffers) {
  Tallies totals;
  ClientHoldings holdings(totals);
  EXPECT_EQ(covered_bytes(holdings, 0), 0u);
  holdings.add_cb({0, 1000}, 4096);
  holdings.add_cb({0, 1000}, 4096);
  EXPECT_EQ(covered_bytes(holdings, 0), 4096u);
  holdings.add_cb({0, 1000}, 6144);
  EXPECT_EQ(covered_bytes(holdings, 0), 6144u);
  holdings.add_cb({0, 3000}, 6144);
  EXPECT_EQ(covered_bytes(holdings, 0), 8144u);
  holdings.add_cb({1, 0}, 2048);
  EXPECT_EQ(covered_bytes(holdings, 1), 2048u);
  holdings.add_cb({0, ~0ull - 10}, 4096);
  EXPECT_EQ(covered_bytes(holdings, 0), 8154u) << "an address near the end does not wrap";
}

TEST(ClientHoldings, RandomUnionsEqualASetOfBytes) {
  std::mt19937 random(35);
  for (int round = 0; round < 50; ++round) {
    Tallies totals;
    ClientHoldings holdings(totals);
    std::vector<bool> bytes(256);
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t start = random() % 128, length = 1 + random() % 32;
      holdings.add_cb({0, start}, length);
      for (std::uint64_t at = start; at < start + length; ++at) bytes[at] = true;
    }
    EXPECT_EQ(covered_bytes(holdings, 0),
              static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), true)));
  }
}

TEST(ClientHoldings, TotalsAreSumsAfterEveryStep) {
  std::mt19937 random(7);
  Tallies totals;
  ClientHoldings holdings(totals);
  for (int step = 0; step < 20'000; ++step) {
    const Place place{static_cast<std::int32_t>(random() % 3), random() % 40};
    const std::uint64_t size = 1 + random() % 4;
    switch (random() % 6) {
      case 0:
        holdings.allocate(place, static_cast<std::uint8_t>(random() % kKinds), size);
        break;
      case 1:
        holdings.free(place);
        break;
      case 2:
        holdings.add_cb(place, size);
        break;
      case 3:
        holdings.remove_cb(place, size);
        break;
      case 4:
        holdings.load(place, {size, 0, static_cast<std::uint8_t>(random() % 5)});
        break;
      default:
        holdings.unload(place);
        break;
    }
    if (step % 100 != 0) continue;
    Tally all;
    for (const auto& [device, tally] : totals) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) all.bytes[kind] += tally.bytes[kind];
      all.buffers += tally.buffers;
      all.cb_bytes += tally.cb_bytes;
      all.cbs += tally.cbs;
      all.kernel_bytes[0] += tally.all_kernel_bytes();
    }
    const Tally sum = holdings.sum();
    ASSERT_EQ(all.bytes, sum.bytes);
    ASSERT_EQ(all.buffers, sum.buffers);
    ASSERT_EQ(all.cb_bytes, sum.cb_bytes);
    ASSERT_EQ(all.cbs, sum.cbs);
    ASSERT_EQ(all.kernel_bytes[0], sum.all_kernel_bytes());
    ASSERT_EQ(holdings.entries(), sum.buffers + sum.cbs + sum.all_kernels());
  }
  holdings.clear();
  EXPECT_TRUE(holdings.empty());
  for (const auto& [device, tally] : totals) EXPECT_TRUE(tally.empty()) << device;
}

}  // namespace
}  // namespace ttmem::legacy
