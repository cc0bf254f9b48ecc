// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/nominal.hpp"

#include <array>

namespace ttmem::ledger {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;
constexpr std::uint32_t kWormholeL1 = 1'499'136, kBlackholeL1 = 1'572'864;

constexpr NominalCapacity wormhole(std::uint32_t cores) {
  return {12 * kGiB, 6, cores, kWormholeL1};
}
constexpr NominalCapacity blackhole(std::uint32_t channels, std::uint32_t cores) {
  return {channels * 4 * kGiB, channels, cores, kBlackholeL1};
}

struct Board {
  std::string_view name;  // as the driver spells it, or how that begins
  NominalCapacity capacity;
};
constexpr std::array kBoards = {
    Board{"n150", wormhole(72)},
    Board{"n300", wormhole(64)},
    Board{"galaxy-wormhole", wormhole(80)},
    Board{"p100", blackhole(7, 120)},
    Board{"p150", blackhole(8, 120)},
    Board{"p300", blackhole(8, 120)},
};

}  // namespace

std::optional<NominalCapacity> nominal_capacity(std::string_view board, Arch arch) {
  for (const Board& known : kBoards) {
    if (board.starts_with(known.name)) return known.capacity;
  }
  switch (arch) {
    case Arch::kGrayskull:
      return NominalCapacity{8 * kGiB, 8, 120, 1'048'576};
    case Arch::kWormholeB0:
      return wormhole(80);
    case Arch::kBlackhole:
      return blackhole(8, 140);
    default:
      return std::nullopt;
  }
}

}  // namespace ttmem::ledger
