// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Blocks that the runtime's own get_memory_view showed for these tensors on n150 and P150.
#include "explain/tensor.hpp"

#include <string>
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
    tensor.cores = known.cores;
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
         {{7, 3}, DataType::kUint8, kRows, l1, 64}},
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
  tensor.layout = kTile;
  tensor.sharding = Sharding::kHeight;
  EXPECT_FALSE(bytes_of(tensor, rules)) << "no shard";
  tensor.shard = {32, 32, 32};
  EXPECT_FALSE(bytes_of(tensor, rules));
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
