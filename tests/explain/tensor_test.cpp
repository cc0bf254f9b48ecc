// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Blocks that the runtime's own get_memory_view showed for these tensors on n150 and P150.
#include "explain/tensor.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "explain/fit.hpp"

namespace ttmem::explain {
namespace {

using ledger::Arch;
using ledger::Space;
using Shape = std::vector<std::uint64_t>;

constexpr auto kTile = TensorLayout::kTile;
constexpr auto kRows = TensorLayout::kRowMajor;
constexpr auto kBf16 = DataType::kBfloat16;
constexpr auto kBfp8 = DataType::kBfloat8B;
constexpr auto kBfp4 = DataType::kBfloat4B;

struct Known {
  Shape shape;
  DataType type;
  TensorLayout layout;
  Space space;
  std::uint64_t block;
  Sharding sharding = Sharding::kInterleaved;
  Shape shard = {};
  std::uint64_t cores = 0;
  std::uint64_t tile_height = 32;
};

void check(const std::vector<Known>& all, Arch arch, std::uint64_t dram, std::uint64_t l1) {
  for (const Known& known : all) {
    TensorSpec tensor;
    tensor.shape = known.shape;
    tensor.type = known.type;
    tensor.layout = known.layout;
    tensor.space = known.space;
    tensor.sharding = known.sharding;
    tensor.shard = known.shard;
    tensor.grid = known.cores == 64 ? Grid{8, 8} : Grid{known.cores, 1};
    tensor.tile_height = known.tile_height;
    const std::uint64_t banks = known.space == Space::kL1 ? l1 : dram;
    const auto bytes = bytes_of(tensor, rules_of(arch, known.space, banks));
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(bytes->block, known.block)
        << ledger::name(known.type) << " " << known.shape.front() << " " << known.shape.back();
    EXPECT_EQ(bytes->taken, known.block * banks);
  }
}

TEST(Tensor, InterleavedOnWormhole) {
  const Space dram = Space::kDram, l1 = Space::kL1;
  check({{{1024, 1024}, kBf16, kTile, dram, 176128},
         {{1024, 1024}, DataType::kFloat32, kTile, dram, 352256},
         {{1024, 1024}, kBfp8, kTile, dram, 93568},
         {{1024, 1024}, kBfp4, kTile, dram, 49536},
         {{1024, 1024}, DataType::kUint8, kTile, dram, 88064},
         {{1024, 1024}, kBf16, kTile, l1, 32768},
         {{1024, 1024}, kBfp8, kTile, l1, 17408},
         {{33, 65}, kBf16, kTile, dram, 2048},
         {{3, 5, 7, 9}, kBf16, kTile, dram, 4096},
         {{3, 5, 7, 9}, kBf16, kTile, l1, 2048},
         {{1024, 1000}, kBf16, kRows, dram, 173376},
         {{1024, 1000}, DataType::kFloat32, kRows, dram, 344000},
         {{1024, 1000}, DataType::kUint8, kRows, dram, 88064},
         {{1024, 1012}, kBf16, kRows, dram, 176128},
         {{1024, 1012}, kBf16, kRows, l1, 32512},
         {{7, 3}, DataType::kUint8, kRows, dram, 32},
         {{17}, DataType::kUint32, kRows, dram, 96},
         {{64, 64}, kBf16, kTile, dram, 1024, Sharding::kInterleaved, {}, 0, 16},
         {{64, 64}, kBfp8, kTile, dram, 544, Sharding::kInterleaved, {}, 0, 16},
         {{64, 64}, kBf16, kTile, dram, 704, Sharding::kInterleaved, {}, 0, 1},
         {{64, 64}, kBfp8, kTile, dram, 704, Sharding::kInterleaved, {}, 0, 1}},
        Arch::kWormholeB0, 12, 64);
}

TEST(Tensor, ShardedOnWormhole) {
  const Space dram = Space::kDram, l1 = Space::kL1;
  check({{{2048, 64}, kBf16, kTile, l1, 4096, Sharding::kHeight, {32, 64}, 64},
         {{2048, 64}, kBfp8, kTile, l1, 2176, Sharding::kHeight, {32, 64}, 64},
         {{96, 64}, kBf16, kTile, l1, 4096, Sharding::kHeight, {32, 64}, 64},
         {{32, 4096}, kBf16, kTile, l1, 8192, Sharding::kWidth, {32, 128}, 32},
         {{32, 4096}, kBfp4, kTile, l1, 2304, Sharding::kWidth, {32, 128}, 32},
         {{1000, 1000}, kBf16, kTile, l1, 32768, Sharding::kBlock, {128, 128}, 64},
         {{500, 100}, kBf16, kRows, l1, 1664, Sharding::kHeight, {8, 100}, 64},
         {{32, 1024}, kBf16, kRows, l1, 1536, Sharding::kWidth, {32, 20}, 64},
         {{64, 64}, kBf16, kRows, l1, 512, Sharding::kBlock, {16, 12}, 64},
         {{32, 12288}, kBfp8, kTile, dram, 34816, Sharding::kWidth, {32, 1024}, 12},
         {{16, 128, 128}, kBf16, kTile, l1, 180224, Sharding::kNd, {1, 64, 64}, 3},
         {{5, 100, 130}, kBfp8, kTile, l1, 26112, Sharding::kNd, {2, 64, 64}, 8},
         {{25, 64, 64}, kBf16, kTile, dram, 24576, Sharding::kNd, {1, 64, 64}, 12}},
        Arch::kWormholeB0, 12, 64);
}

TEST(Tensor, OnBlackhole) {
  const Space dram = Space::kDram, l1 = Space::kL1;
  check({{{1024, 1024}, kBf16, kTile, dram, 262144},
         {{1024, 1024}, kBf16, kTile, l1, 20480},
         {{1024, 1024}, kBfp8, kTile, dram, 139264},
         {{1024, 1024}, kBfp8, kTile, l1, 10880},
         {{17}, DataType::kUint32, kRows, dram, 128},
         {{7, 3}, DataType::kUint8, kRows, l1, 64},
         {{3, 5, 32, 500}, DataType::kFp8E4M3, kRows, l1, 2560},
         {{5, 500, 32}, DataType::kFp8E4M3, kRows, dram, 20032},
         {{257, 64}, DataType::kFp8E4M3, kRows, l1, 4160, Sharding::kWidth, {257, 2}, 32}},
        Arch::kBlackhole, 8, 110);
}

TEST(Tensor, WhatCannotBeIsSaid) {
  TensorSpec tensor;
  const BankRules rules = rules_of(Arch::kWormholeB0, Space::kDram, 12);
  EXPECT_FALSE(bytes_of(tensor, rules));
  tensor.shape = {32, 0};
  EXPECT_FALSE(bytes_of(tensor, rules));
  tensor.shape = {1ull << 40, 1ull << 40, 1ull << 40};
  EXPECT_FALSE(bytes_of(tensor, rules)) << "more than any device";
  tensor.shape = {32, 32};
  EXPECT_TRUE(bytes_of(tensor, rules));
  tensor.type = kBfp8;
  tensor.layout = kRows;
  EXPECT_FALSE(bytes_of(tensor, rules));
  tensor.type = DataType::kFp8E4M3;
  EXPECT_FALSE(bytes_of(tensor, rules)) << "not on Wormhole";
  const BankRules blackhole = rules_of(Arch::kBlackhole, Space::kDram, 8);
  EXPECT_TRUE(bytes_of(tensor, blackhole));
  tensor.layout = kTile;
  EXPECT_FALSE(bytes_of(tensor, blackhole)) << "only in rows";
  tensor.type = kBfp8;
  tensor.sharding = Sharding::kHeight;
  EXPECT_FALSE(bytes_of(tensor, rules)) << "no shard";
  tensor.shard = {32, 32, 32};
  EXPECT_FALSE(bytes_of(tensor, rules));
}

struct Refused {
  Shape shape;
  Sharding sharding;
  Shape shard;
  std::string_view why;  // "": the runtime accepts it
  TensorLayout layout = kTile;
  Space space = Space::kL1;
  Grid grid = {};
  std::uint64_t cores = 0;
};

void check_refused(const std::vector<Refused>& all, Arch arch, std::uint64_t dram, Grid l1) {
  for (const Refused& each : all) {
    TensorSpec tensor;
    tensor.shape = each.shape;
    tensor.layout = each.layout;
    tensor.space = each.space;
    tensor.sharding = each.sharding;
    tensor.shard = each.shard;
    tensor.grid = each.grid;
    tensor.cores = each.cores;
    const std::uint64_t banks = each.space == Space::kL1 ? l1.cores() : dram;
    const auto bytes = bytes_of(tensor, rules_of(arch, each.space, banks, l1));
    EXPECT_EQ(bytes ? "" : bytes.error().message, each.why);
  }
}

// What ttnn 0.81.1 said to each of them on a mock n150.
TEST(Tensor, ShardsThatTheRuntimeRefuses) {
  const auto height = Sharding::kHeight, width = Sharding::kWidth, block = Sharding::kBlock;
  const auto nd = Sharding::kNd;
  const Space dram = Space::kDram, l1 = Space::kL1;
  const std::string_view few = "128 shards along the height, but only 64 cores";
  check_refused(
      {{{1, 1, 1024, 1024}, height, {32, 64}, "the shards are 64 wide, the tensor is 1024 wide"},
       {{1, 1, 4096, 4096}, height, {32, 4096}, few},
       {{64, 64}, height, {33, 64}, "shards of 33x64 are not made of whole tiles of 32x32"},
       {{64, 64}, height, {32, 33}, "shards of 32x33 are not made of whole tiles of 32x32"},
       {{64, 50}, height, {32, 64}, ""},
       {{64, 50}, height, {32, 96}, "the shards are 96 wide, the tensor is 64 wide"},
       {{32, 64}, height, {128, 64}, ""},
       {{3, 5, 7, 64}, height, {32, 64}, ""},
       {{64}, height, {32, 64}, ""},
       {{100, 50}, height, {10, 64}, "", kRows},
       {{100, 50}, height, {10, 25}, "the shards are 25 wide, the tensor is 50 wide", kRows},
       {{64}, height, {1, 64}, "", kRows},
       {{64},
        height,
        {2, 64},
        "the shards are 2 high, rows of one dimension have a height of 1",
        kRows},
       {{64, 2048}, width, {64, 32}, ""},
       {{64, 2080}, width, {64, 32}, "65 shards along the width, but only 64 cores"},
       {{64, 1024}, width, {32, 32}, "the shards are 32 high, the tensor is 64 high"},
       {{64, 1024}, width, {96, 32}, "the shards are 96 high, the tensor is 64 high"},
       {{2, 50, 512}, width, {128, 32}, ""},
       {{2, 50, 512}, width, {100, 32}, "", kRows},
       {{2, 50, 512}, width, {128, 32}, "the shards are 128 high, the tensor is 100 high", kRows},
       {{1024, 1024}, block, {128, 128}, ""},
       {{1024, 1024}, block, {64, 128}, "16 shards along the height, but only 8 rows of cores"},
       {{1024, 1024}, block, {128, 64}, "16 shards along the width, but only 8 columns of cores"},
       {{1024, 512}, block, {128, 128}, "", kTile, l1, {4, 8}},
       {{1024, 512},
        block,
        {128, 128},
        "8 shards along the height, but only 4 rows of cores",
        kTile,
        l1,
        {8, 4}},
       {{384, 64}, height, {32, 64}, "", kTile, dram},
       {{416, 64}, height, {32, 64}, "13 shards along the height, but only 12 banks", kTile, dram},
       {{416, 64},
        height,
        {32, 64},
        "DRAM has a grid of 12x1 banks, not of 13x1",
        kTile,
        dram,
        {13, 1}},
       {{384, 64},
        height,
        {32, 64},
        "DRAM has a grid of 12x1 banks, not of 4x3",
        kTile,
        dram,
        {4, 3}},
       {{384, 64},
        height,
        {32, 64},
        "12 shards along the height, but only 4 banks",
        kTile,
        dram,
        {4, 1}},
       {{416, 64}, nd, {32, 64}, "DRAM has a grid of 12x1 banks, not of 4x3", kTile, dram, {4, 3}},
       {{64, 64},
        height,
        {32, 64},
        "the device has a grid of 8x8 cores, not of 9x8",
        kTile,
        l1,
        {9, 8}},
       {{64, 64},
        width,
        {64, 32},
        "the device has a grid of 8x8 cores, not of 2x9",
        kTile,
        l1,
        {2, 9}},
       {{64, 64},
        nd,
        {32, 32},
        "the device has a grid of 8x8 cores, not of 9x9",
        kTile,
        l1,
        {9, 9}},
       {{64, 64},
        nd,
        {32, 32},
        "the device has a grid of 8x8 cores, not of 64x1",
        kTile,
        l1,
        {64, 1}},
       {{64, 64},
        height,
        {32, 64},
        "the device has a grid of 8x8 cores, not of 16x1",
        kTile,
        l1,
        {16, 1}},
       {{640, 64}, height, {32, 64}, "", kTile, l1, {8, 3}, 20},
       {{672, 64},
        height,
        {32, 64},
        "21 shards along the height, but only 20 cores",
        kTile,
        l1,
        {8, 3},
        20},
       {{64, 64}, block, {32, 32}, "", kTile, l1, {9, 9}},
       {{288, 64},
        block,
        {32, 32},
        "2x9 shards, but the device has a grid of 8x8 cores",
        kTile,
        l1,
        {9, 9}},
       {{4, 64, 64}, nd, {1, 32, 48}, "shards of 1x32x48 are not made of whole tiles of 32x32"},
       {{64}, nd, {32}, "shards of 32 are not made of whole tiles of 32x32"},
       {{64}, nd, {32}, "", kRows},
       {{32, 384}, block, {32, 32}, "", kTile, dram},
       {{64, 384},
        block,
        {32, 32},
        "2 shards along the height, but only 1 row of banks",
        kTile,
        dram}},
      Arch::kWormholeB0, 12, {8, 8});
}

TEST(Tensor, TheGridOfTheDeviceLimitsItsShards) {
  const auto width = Sharding::kWidth, block = Sharding::kBlock;
  const std::vector<Refused> all = {{{64, 2080}, width, {64, 32}, ""},
                                    {{1320, 32}, block, {132, 32}, "", kRows},
                                    {{1331, 32},
                                     block,
                                     {121, 32},
                                     "11 shards along the height, but only 10 rows of cores",
                                     kRows},
                                    {{32, 352}, block, {32, 32}, ""}};
  check_refused(all, Arch::kBlackhole, 8, {11, 10});
}

TEST(Fit, DispatchTakesRowsOrColumnsOfTheCores) {
  const auto grid = [](Grid cores, std::uint64_t banks) {
    const Grid found = compute_grid(cores, banks);
    return std::pair{found.columns, found.rows};
  };
  using Lengths = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(grid({8, 9}, 64), Lengths(8, 8));
  EXPECT_EQ(grid({12, 10}, 110), Lengths(11, 10));
  EXPECT_EQ(grid({12, 10}, 120), Lengths(12, 10));
  EXPECT_EQ(grid({8, 9}, 67), Lengths(0, 0));
  EXPECT_EQ(grid({0, 0}, 64), Lengths(0, 0));
}

TEST(Fit, AnEmptyBoardIsAsTheRuntimeOpensIt) {
  const auto named = [](const char* name) {
    return *std::ranges::find(boards(), std::string_view(name), &Board::name);
  };
  const FitTarget wormhole = empty_target(named("n150"), 65, 196609);
  EXPECT_EQ(wormhole.dram.bank, ledger::AddressRange(1048640, 1048640 + 1072668608));
  EXPECT_EQ(wormhole.l1.bank.end - wormhole.l1.bank.begin, 1393216u);
  const FitTarget blackhole = empty_target(named("p300"), 65, 196609);
  EXPECT_EQ(blackhole.dram.bank, ledger::AddressRange(1048704, 1048704 + 4277108608));
  EXPECT_EQ(blackhole.l1.bank.end - blackhole.l1.bank.begin, 1460992u);
}

TEST(Fit, TensorsArePlacedOneAfterTheOther) {
  const FitTarget target = empty_target(boards().front(), 0, 0);
  TensorSpec large;
  large.shape = {32, 512, 1024};
  large.space = Space::kL1;  // 512 KiB in each bank
  const Fit two = fit({large, large}, target);
  EXPECT_TRUE(two.fits);
  EXPECT_EQ(two.rows[0].place->end, 1499136u) << "the top of L1";
  EXPECT_EQ(two.rows[1].place->end, two.rows[0].place->begin);
  EXPECT_FALSE(fit({large, large, large}, target).fits);
}

TEST(Fit, ProgramsThatWouldClashAreNamed) {
  FitTarget target = empty_target(boards().front(), 0, 0);
  target.l1.programs.push_back({1, "matmul", "a.py:1", "", 1000000, {}, 1, 1});
  target.l1.programs.push_back({2, "add", "a.py:2", "", 200000, {}, 1, 1});
  TensorSpec large;
  large.shape = {32, 512, 1024};
  large.space = Space::kL1;
  const Fit one = fit({large}, target);
  ASSERT_EQ(one.clashes.size(), 1u);
  EXPECT_EQ(one.clashes[0].program, "matmul");
  EXPECT_EQ(one.clashes[0].lowest_buffer, 1499136u - 524288);
}

TEST(Fit, TheLargestBatchIsFound) {
  const FitTarget target = empty_target(boards().front(), 0, 0);
  const auto make = [](std::uint64_t batch) {
    TensorSpec tensor;
    tensor.shape = {batch, 1024, 1024};
    return std::vector<TensorSpec>{tensor};
  };
  const auto largest = largest_that_fits(make, target);
  ASSERT_TRUE(largest);
  EXPECT_TRUE(fit(make(*largest), target).fits);
  EXPECT_FALSE(fit(make(*largest + 1), target).fits);
}

}  // namespace
}  // namespace ttmem::explain
