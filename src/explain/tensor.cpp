// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/tensor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ledger/saturating.hpp"

namespace ttmem::explain {
namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t kMostTensorBytes = 1ull << 50;
constexpr std::size_t kMostDimensions = 16;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }
std::uint64_t padded(std::uint64_t a, std::uint64_t to) { return divide_up(a, to) * to; }

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
    repeats = ledger::narrow(ledger::Wide{repeats} * shape[i]);
  }
  const auto times = [](std::uint64_t a, std::uint64_t b) {
    return ledger::narrow(ledger::Wide{a} * b);
  };
  if (tensor.layout == TensorLayout::kRowMajor) {
    return {times(width, element_bytes(tensor.type)), times(repeats, height)};
  }
  return {tile_bytes(tensor), times(repeats, times(divide_up(height, tensor.tile_height),
                                                   divide_up(width, tensor.tile_width)))};
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
  if (tensor.sharding == Sharding::kInterleaved) return "";
  if (is_empty(tensor.shard)) return "a sharded tensor needs the shape of a shard";
  const std::size_t wanted = tensor.sharding == Sharding::kNd ? tensor.shape.size() : 2;
  if (tensor.shard.size() != wanted) return fmt::format("a shard needs {} dimensions here", wanted);
  return "";
}

// How many shards the fullest core has.
std::uint64_t shards_on_a_core(const TensorSpec& tensor, const BankRules& rules) {
  if (tensor.sharding != Sharding::kNd) return 1;
  std::uint64_t shards = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    shards = ledger::narrow(ledger::Wide{shards} * divide_up(tensor.shape[i], tensor.shard[i]));
  }
  const std::uint64_t cores = tensor.cores != 0 ? tensor.cores : rules.banks;
  return divide_up(shards, std::min(shards, cores));
}

}  // namespace

BankRules rules_of(ledger::Arch arch, ledger::Space space, std::uint64_t banks) {
  const bool wide = arch == ledger::Arch::kBlackhole;
  const bool l1 = space == ledger::Space::kL1 || space == ledger::Space::kL1Small;
  return {banks, l1 ? 16u : wide ? 64u : 32u, wide ? 64u : 32u};
}

Result<TensorBytes> bytes_of(const TensorSpec& tensor, const BankRules& rules) {
  if (const std::string why = problem(tensor, rules); !why.empty()) {
    return Error{ErrorCode::kWrongKind, why};
  }
  const auto times = [](std::uint64_t a, std::uint64_t b) {
    return ledger::narrow(ledger::Wide{a} * b);
  };
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
