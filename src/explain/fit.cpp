// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/fit.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

using ledger::Arch;
using ledger::Space;
using ledger::SpacePicture;

constexpr std::uint64_t kMostSolved = 1ull << 40;
constexpr std::uint64_t kTraceUnit = 8192;  // of a bank's part of the trace region

SpacePicture empty_space(Space space, Arch arch, std::uint32_t banks, ledger::AddressRange bank) {
  SpacePicture picture;
  picture.space = space;
  picture.arch = arch;
  picture.banks = banks;
  picture.alignment = static_cast<std::uint32_t>(rules_of(arch, space, banks).block_alignment);
  picture.bank = bank;
  return picture;
}

// One space while tensors are placed into it.
struct Filling {
  explicit Filling(const SpacePicture& given)
      : picture(given), list(free_list_of(given)), free_before(list.free_bytes()) {
    if (!given.blocks.empty()) lowest = given.blocks.front().range.begin;
  }
  void add(FitRow& row) {
    used = true;
    asked += row.bytes.block;
    row.place = list.place(row.bytes.block);
    if (row.place) lowest = std::min(lowest, row.place->begin);
  }
  FitSpace outcome() const {
    return {picture.space, picture.banks, asked, free_before, list.free_bytes(), list.largest()};
  }

  const SpacePicture& picture;
  FreeList list;
  std::uint64_t free_before;
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t asked = 0;
  bool used = false;
};

std::vector<FitClash> clashes_of(const Filling& l1) {
  std::vector<FitClash> clashes;
  for (const ledger::HeldProgram& program : l1.picture.programs) {
    if (program.end <= l1.lowest) continue;
    clashes.push_back({program.name, program.line, program.end, l1.lowest});
  }
  std::ranges::stable_sort(clashes, std::ranges::greater{}, &FitClash::end);
  return clashes;
}

}  // namespace

const std::vector<Board>& boards() {
  static const std::vector<Board> kAll = {
      {"n150", Arch::kWormholeB0, 1, 12, 1072693184, 1048640, {8, 8}, 1393312, 105824},
      {"n300", Arch::kWormholeB0, 2, 12, 1072693184, 1048640, {8, 8}, 1393312, 105824},
      {"t3k", Arch::kWormholeB0, 8, 12, 1072693184, 1048640, {8, 8}, 1393312, 105824},
      {"galaxy", Arch::kWormholeB0, 32, 12, 1072693184, 1048640, {8, 9}, 1393312, 105824},
      {"p150", Arch::kBlackhole, 1, 8, 4277141376, 1048704, {11, 10}, 1461120, 111744},
      {"p300", Arch::kBlackhole, 2, 8, 4277141376, 1048704, {11, 10}, 1461120, 111744},
  };
  return kAll;
}

Grid compute_grid(Grid cores, std::uint64_t l1_banks) {
  if (cores.cores() == 0 || l1_banks > cores.cores()) return {};
  if (l1_banks % cores.columns == 0) return {cores.columns, l1_banks / cores.columns};
  if (l1_banks % cores.rows == 0) return {l1_banks / cores.rows, cores.rows};
  return {};
}

FitTarget empty_target(const Board& board, std::uint64_t l1_small_bytes,
                       std::uint64_t trace_region_bytes) {
  FitTarget target;
  target.device = fmt::format("an empty {}", board.name);
  target.empty = true;
  target.arch = board.arch;
  // Both regions are at the top of their banks, in whole units.
  const std::uint64_t each =
      trace_region_bytes / board.dram_banks + (trace_region_bytes % board.dram_banks == 0 ? 0 : 1);
  const std::uint64_t traces = std::min(board.dram_bank_bytes, round_up(each, kTraceUnit));
  target.dram = empty_space(Space::kDram, board.arch, board.dram_banks,
                            {board.dram_base, board.dram_base + board.dram_bank_bytes - traces});
  const std::uint64_t l1_banks = board.l1_grid.cores();
  const BankRules rules = rules_of(board.arch, Space::kL1, l1_banks);
  const std::uint64_t small =
      std::min(board.l1_bank_bytes, round_up(l1_small_bytes, rules.block_alignment));
  target.l1 = empty_space(Space::kL1, board.arch, static_cast<std::uint32_t>(l1_banks),
                          {board.l1_base, board.l1_base + board.l1_bank_bytes - small});
  target.l1_grid = board.l1_grid;
  return target;
}

Fit fit(const std::vector<TensorSpec>& tensors, const FitTarget& target) {
  Filling dram(target.dram), l1(target.l1);
  Fit result;
  result.fits = true;
  for (const TensorSpec& tensor : tensors) {
    Filling& filling = tensor.space == Space::kL1 ? l1 : dram;
    FitRow row;
    row.tensor = tensor;
    const auto bytes = bytes_of(
        tensor, rules_of(target.arch, tensor.space, filling.picture.banks, target.l1_grid));
    if (bytes) {
      row.bytes = *bytes;
      filling.add(row);
    } else {
      row.problem = bytes.error().message;
    }
    result.fits = result.fits && row.place.has_value();
    result.rows.push_back(std::move(row));
  }
  for (const Filling* filling : {&dram, &l1}) {
    if (filling->used) result.spaces.push_back(filling->outcome());
  }
  if (l1.used) result.clashes = clashes_of(l1);
  return result;
}

std::optional<std::uint64_t> largest_that_fits(
    const std::function<std::vector<TensorSpec>(std::uint64_t)>& make, const FitTarget& target) {
  std::uint64_t fits = 0, fails = 1;
  while (fit(make(fails), target).fits) {
    fits = fails;
    fails *= 2;
    if (fails > kMostSolved) return std::nullopt;
  }
  while (fits + 1 < fails) {
    const std::uint64_t middle = fits + (fails - fits) / 2;
    (fit(make(middle), target).fits ? fits : fails) = middle;
  }
  return fits;
}

}  // namespace ttmem::explain
