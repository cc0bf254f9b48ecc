// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How many bytes a tensor takes in a bank, before it is made: TT-Metal's own arithmetic of tiles,
// pages, shards and blocks.
//
//   page      a tile, or a row; in the bank each is padded to the alignment of its memory
//   per bank  the pages of the fullest bank
//   block     what the allocator gives out for it: rounded up once more
//   taken     block x banks: buffers have one address in every bank
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ledger/enums.hpp"

namespace ttmem::explain {

enum class DataType : std::uint8_t {
  kBfloat16,
  kFloat32,
  kUint32,
  kInt32,
  kUint16,
  kUint8,
  kInt8,
  kBfloat8B,
  kBfloat4B,
  kFp8E4M3,
};
enum class TensorLayout : std::uint8_t { kTile, kRowMajor };
enum class Sharding : std::uint8_t { kInterleaved, kHeight, kWidth, kBlock, kNd };

// Columns and rows of cores, or of banks: those of DRAM are one row.
struct Grid {
  std::uint64_t columns = 0, rows = 0;  // 0 x 0 = not known, or not asked for
  std::uint64_t cores() const { return columns * rows; }
};

struct TensorSpec {
  std::string name;
  std::vector<std::uint64_t> shape;
  DataType type = DataType::kBfloat16;
  TensorLayout layout = TensorLayout::kTile;
  std::uint64_t tile_height = 32, tile_width = 32;
  ledger::Space space = ledger::Space::kDram;
  Sharding sharding = Sharding::kInterleaved;
  std::vector<std::uint64_t> shard;  // height and width; ND: one a dimension
  Grid grid;                         // that shards are spread over; 0 x 0 = all banks
  std::uint64_t cores = 0;           // of that grid, if not all of it; 0 = all
};

// What decides how a tensor lies in a space.
struct BankRules {
  std::uint64_t banks = 0;
  std::uint64_t page_alignment = 0;   // L1 16; DRAM 32, on Blackhole 64
  std::uint64_t block_alignment = 0;  // 32, on Blackhole 64
  Grid grid = {};                     // how the banks lie
  bool has_fp8 = false;               // Blackhole has
};

// `l1_grid` as the cores of L1 lie, if it is known.
BankRules rules_of(ledger::Arch arch, ledger::Space space, std::uint64_t banks, Grid l1_grid = {});

struct TensorBytes {
  std::uint64_t page = 0, pages = 0;
  std::uint64_t requested = 0;  // page x pages
  std::uint64_t per_bank = 0;
  std::uint64_t block = 0;
  std::uint64_t taken = 0;
};

// An error says what is wrong with the tensor.
Result<TensorBytes> bytes_of(const TensorSpec& tensor, const BankRules& rules);

// The part of a tensor that one chip of a mesh has; `dimension` may be negative, as in Python.
Result<TensorSpec> part_of(const TensorSpec& tensor, std::int64_t dimension, std::uint64_t chips);

}  // namespace ttmem::explain

namespace ttmem::ledger {

template <>
inline constexpr std::array<std::string_view, 10> kNamesOf<explain::DataType> = {
    "bfloat16", "float32", "uint32",    "int32",     "uint16",
    "uint8",    "int8",    "bfloat8_b", "bfloat4_b", "fp8_e4m3"};
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<explain::TensorLayout> = {"tile",
                                                                                    "row_major"};
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<explain::Sharding> = {
    "interleaved", "height", "width", "block", "nd"};

}  // namespace ttmem::ledger
