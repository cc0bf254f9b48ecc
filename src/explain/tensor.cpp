// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/tensor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ledger/saturating.hpp"

namespace ttmem::explain {
namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t kMostTensorBytes = 1ull << 50;
constexpr std::size_t kMostDimensions = 16;

struct Extent {
  std::uint64_t height = 0, width = 0;
};

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return ledger::narrow(ledger::Wide{a} * b);
}
std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }
std::uint64_t padded(std::uint64_t a, std::uint64_t to) { return times(divide_up(a, to), to); }

bool is_block_format(DataType type) {
  return type == DataType::kBfloat8B || type == DataType::kBfloat4B;
}

std::uint64_t element_bytes(DataType type) {
  switch (type) {
    case DataType::kFloat32:
    case DataType::kUint32:
    case DataType::kInt32:
      return 4;
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kFp8E4M3:
      return 1;
    default:
      return 2;
  }
}

// In a block format 16 elements share an exponent of one byte; the exponents are padded to 16.
std::uint64_t tile_bytes(const TensorSpec& tensor) {
  const std::uint64_t elements = tensor.tile_height * tensor.tile_width;
  if (!is_block_format(tensor.type)) return elements * element_bytes(tensor.type);
  const std::uint64_t exponents = padded(elements / 16, 16);
  return (tensor.type == DataType::kBfloat8B ? elements : elements / 2) + exponents;
}

struct Pages {
  std::uint64_t bytes = 0, count = 0;
};

// The pages of a tensor, or of a shard, of this shape. Leading dimensions repeat the last two.
Pages pages_of(const TensorSpec& tensor, const Shape& shape) {
  const std::uint64_t width = shape.back();
  const std::uint64_t height = shape.size() > 1 ? shape[shape.size() - 2] : 1;
  std::uint64_t repeats = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    repeats = times(repeats, shape[i]);
  }
  if (tensor.layout == TensorLayout::kRowMajor) {
    return {times(width, element_bytes(tensor.type)), times(repeats, height)};
  }
  return {tile_bytes(tensor), times(repeats, times(divide_up(height, tensor.tile_height),
                                                   divide_up(width, tensor.tile_width)))};
}

bool is_tiled(const TensorSpec& tensor) { return tensor.layout == TensorLayout::kTile; }

// What shards of two dimensions divide: all dimensions but the last are folded into the height.
// The last two are padded to whole tiles, rows to whole shards.
Extent folded(const TensorSpec& tensor) {
  const Shape& shape = tensor.shape;
  std::uint64_t height = shape.size() > 1 ? shape[shape.size() - 2] : 1;
  if (is_tiled(tensor)) height = padded(height, tensor.tile_height);
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) height = times(height, shape[i]);
  return {height, padded(shape.back(), is_tiled(tensor) ? tensor.tile_width : tensor.shard[1])};
}

std::string too_many(std::uint64_t shards, const char* along, std::uint64_t places,
                     const std::string& place, const char* of = "") {
  if (shards <= places) return "";
  return fmt::format("{} shards along the {}, but only {} {}{}{}", shards, along, places, place,
                     places == 1 ? "" : "s", of);
}

Grid grid_of(const TensorSpec& tensor, const BankRules& rules) {
  return tensor.grid.cores() != 0 ? tensor.grid : rules.grid;
}

bool lies_in(Grid inner, Grid outer) {
  return inner.columns <= outer.columns && inner.rows <= outer.rows;
}

// How many cores, or banks, there are for shards.
std::uint64_t places_of(const TensorSpec& tensor, const BankRules& rules) {
  if (tensor.cores != 0) return tensor.cores;
  const std::uint64_t cores = grid_of(tensor, rules).cores();
  return cores != 0 ? cores : rules.banks;
}

// Whether the device has these cores, or banks.
std::string problem_of_grid(const TensorSpec& tensor, const BankRules& rules) {
  const bool dram = tensor.space == ledger::Space::kDram;
  const Grid grid = grid_of(tensor, rules);
  // Of a grid for blocks the runtime takes only what they need.
  if (tensor.sharding == Sharding::kBlock) return "";
  if (dram && (grid.rows != 1 || grid.columns > rules.banks)) {
    return fmt::format("DRAM has a grid of {}x1 banks, not of {}x{}", rules.banks, grid.columns,
                       grid.rows);
  }
  const bool is_known = rules.grid.cores() != 0;
  if (is_known ? lies_in(grid, rules.grid) : grid.cores() <= rules.banks) return "";
  return rules.grid.cores() == 0
             ? fmt::format("the device has {} cores, not {}x{}", rules.banks, grid.columns,
                           grid.rows)
             : fmt::format("the device has a grid of {}x{} cores, not of {}x{}", rules.grid.columns,
                           rules.grid.rows, grid.columns, grid.rows);
}

// Whether each shard has a core, or a bank, of its own.
std::string problem_of_places(const TensorSpec& tensor, const BankRules& rules) {
  const bool dram = tensor.space == ledger::Space::kDram;
  const Extent all = folded(tensor);
  const std::uint64_t high = divide_up(all.height, tensor.shard[0]);
  const std::uint64_t wide = divide_up(all.width, tensor.shard[1]);
  const Grid grid = grid_of(tensor, rules);
  const std::uint64_t places = places_of(tensor, rules);
  const char* place = dram ? "bank" : "core";
  if (tensor.sharding == Sharding::kHeight) return too_many(high, "height", places, place);
  if (tensor.sharding == Sharding::kWidth) return too_many(wide, "width", places, place);
  if (grid.cores() == 0) return too_many(times(high, wide), "height and width", places, place);
  const char* of = dram ? " of banks" : " of cores";
  if (const std::string rows = too_many(high, "height", grid.rows, "row", of); !rows.empty()) {
    return rows;
  }
  if (const std::string columns = too_many(wide, "width", grid.columns, "column", of);
      !columns.empty()) {
    return columns;
  }
  // In column major order columns and rows are changed over.
  const Grid device = rules.grid;
  const bool is_known = device.cores() != 0;
  if (!is_known || lies_in({wide, high}, device) || (!dram && lies_in({high, wide}, device))) {
    return "";
  }
  return fmt::format("{}x{} shards, but the device has a grid of {}x{} {}s", wide, high,
                     device.columns, device.rows, place);
}

bool is_of_whole_tiles(const TensorSpec& tensor) {
  const Shape& shard = tensor.shard;
  const std::uint64_t height = shard.size() > 1 ? shard[shard.size() - 2] : 1;
  return height % tensor.tile_height == 0 && shard.back() % tensor.tile_width == 0;
}

// What the runtime refuses of shards by height, by width and by block.
std::string problem_of_shards(const TensorSpec& tensor, const BankRules& rules) {
  const Extent all = folded(tensor), shard = {tensor.shard[0], tensor.shard[1]};
  if (!is_tiled(tensor) && tensor.shape.size() == 1 && shard.height != 1) {
    return fmt::format("the shards are {} high, rows of one dimension have a height of 1",
                       shard.height);
  }
  if (tensor.sharding == Sharding::kHeight && shard.width != all.width) {
    return fmt::format("the shards are {} wide, the tensor is {} wide", shard.width, all.width);
  }
  if (tensor.sharding == Sharding::kWidth && shard.height != all.height) {
    return fmt::format("the shards are {} high, the tensor is {} high", shard.height, all.height);
  }
  return problem_of_places(tensor, rules);
}

std::string problem(const TensorSpec& tensor, const BankRules& rules) {
  const auto is_empty = [](const Shape& shape) {
    return shape.empty() || shape.size() > kMostDimensions ||
           std::ranges::find(shape, 0u) != shape.end();
  };
  if (is_empty(tensor.shape)) return "a shape has 1 to 16 dimensions, each of them at least 1";
  if (rules.banks == 0) return "how many banks there are is not known";
  if (tensor.tile_height == 0 || tensor.tile_width == 0) return "a tile has at least one element";
  if (tensor.layout == TensorLayout::kRowMajor && is_block_format(tensor.type)) {
    return "bfloat8_b and bfloat4_b exist only in tiles";
  }
  if (tensor.type == DataType::kFp8E4M3 && !rules.has_fp8) {
    return "fp8_e4m3 exists only on blackhole";
  }
  if (tensor.type == DataType::kFp8E4M3 && is_tiled(tensor)) {
    return "fp8_e4m3 exists only in rows (row_major)";
  }
  if (tensor.sharding == Sharding::kInterleaved) return "";
  if (is_empty(tensor.shard)) return "a sharded tensor needs the shape of a shard";
  const bool nd = tensor.sharding == Sharding::kNd;
  const std::size_t wanted = nd ? tensor.shape.size() : 2;
  if (tensor.shard.size() != wanted) return fmt::format("a shard needs {} dimensions here", wanted);
  if (is_tiled(tensor) && !is_of_whole_tiles(tensor)) {
    return fmt::format("shards of {} are not made of whole tiles of {}x{}",
                       fmt::join(tensor.shard, "x"), tensor.tile_height, tensor.tile_width);
  }
  if (std::string why = problem_of_grid(tensor, rules); !why.empty()) return why;
  return nd ? "" : problem_of_shards(tensor, rules);
}

// How many shards the fullest core has.
std::uint64_t shards_on_a_core(const TensorSpec& tensor, const BankRules& rules) {
  if (tensor.sharding != Sharding::kNd) return 1;
  std::uint64_t shards = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    shards = times(shards, divide_up(tensor.shape[i], tensor.shard[i]));
  }
  return divide_up(shards, std::min(shards, places_of(tensor, rules)));
}

}  // namespace

BankRules rules_of(ledger::Arch arch, ledger::Space space, std::uint64_t banks, Grid l1_grid) {
  const bool wide = arch == ledger::Arch::kBlackhole;
  const bool l1 = space == ledger::Space::kL1 || space == ledger::Space::kL1Small;
  return {banks,
          l1     ? 16u
          : wide ? 64u
                 : 32u,
          wide ? 64u : 32u, l1 ? l1_grid : Grid{banks, 1}, wide};
}

Result<TensorBytes> bytes_of(const TensorSpec& tensor, const BankRules& rules) {
  if (const std::string why = problem(tensor, rules); !why.empty()) {
    return Error{ErrorCode::kWrongKind, why};
  }
  const Pages all = pages_of(tensor, tensor.shape);
  TensorBytes bytes;
  bytes.page = all.bytes;
  bytes.pages = all.count;
  bytes.requested = times(all.bytes, all.count);
  if (tensor.sharding == Sharding::kInterleaved) {
    bytes.per_bank =
        times(divide_up(all.count, rules.banks), padded(all.bytes, rules.page_alignment));
  } else {
    const Pages shard = pages_of(tensor, tensor.shard);
    bytes.page = shard.bytes;
    bytes.per_bank = times(times(shard.count, padded(shard.bytes, rules.page_alignment)),
                           shards_on_a_core(tensor, rules));
  }
  if (bytes.per_bank > kMostTensorBytes || bytes.requested > kMostTensorBytes) {
    return Error{ErrorCode::kWrongKind, "it has more bytes than any device"};
  }
  bytes.block = padded(std::max(bytes.per_bank, rules.block_alignment), rules.block_alignment);
  bytes.taken = bytes.block * rules.banks;
  return bytes;
}

Result<TensorSpec> part_of(const TensorSpec& tensor, std::int64_t dimension, std::uint64_t chips) {
  const auto dimensions = static_cast<std::int64_t>(tensor.shape.size());
  const std::int64_t index = dimension < 0 ? dimension + dimensions : dimension;
  if (index < 0 || index >= dimensions || chips == 0) {
    return Error{ErrorCode::kWrongKind,
                 fmt::format("there is no dimension {} to shard", dimension)};
  }
  TensorSpec part = tensor;
  auto& length = part.shape[static_cast<std::size_t>(index)];
  length = divide_up(length, chips);
  return part;
}

}  // namespace ttmem::explain
