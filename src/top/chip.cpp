// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/chip.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace ttmem::top {
namespace {

using ledger::CoreType;
using ledger::CoreView;

constexpr std::uint8_t kNoPlace = 255;

bool is_ethernet(const CoreView& core) {
  return core.core.type == CoreType::kActiveEth || core.core.type == CoreType::kIdleEth;
}

// Removes rows and columns of the network that have no core at all.
void close_up(std::vector<PlacedCore>& cores, int PlacedCore::* axis) {
  std::array<bool, 256> used{};
  for (const PlacedCore& core : cores) used[static_cast<std::size_t>(core.*axis)] = true;
  std::array<int, 256> moved{};
  int next = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    moved[i] = next;
    if (used[i]) ++next;
  }
  for (PlacedCore& core : cores) core.*axis = moved[static_cast<std::size_t>(core.*axis)];
}

// Workers keep their logical places; the others stand in rows of the same width.
std::vector<PlacedCore> by_logic(const std::vector<CoreView>& cores) {
  int width = 1, eth = 0, others = 0, workers = 0;
  for (const CoreView& core : cores) {
    if (core.core.type == CoreType::kTensix) {
      width = std::max(width, core.core.x + 1);
      workers = std::max(workers, core.core.y + 1);
    }
    if (is_ethernet(core)) ++eth;
  }
  const int eth_rows = (eth + width - 1) / width;
  std::vector<PlacedCore> placed;
  int next_eth = 0;
  for (const CoreView& core : cores) {
    if (core.core.type == CoreType::kTensix) {
      placed.push_back({core.core.x, core.core.y + eth_rows, &core});
    } else if (is_ethernet(core)) {
      placed.push_back({next_eth % width, next_eth / width, &core});
      ++next_eth;
    } else {
      placed.push_back({others % width, eth_rows + workers + others / width, &core});
      ++others;
    }
  }
  return placed;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double part) { return fmt::format("{:.0f}", part * 100); }

}  // namespace

const PlacedCore* Chip::at(int column, int row) const {
  const auto found = std::find_if(cores.begin(), cores.end(), [=](const PlacedCore& core) {
    return core.column == column && core.row == row;
  });
  return found == cores.end() ? nullptr : &*found;
}

const PlacedCore* Chip::nearest(int column, int row) const {
  const bool unset = column < 0 && row < 0;
  const auto distance = [=](const PlacedCore& core) {
    if (unset && core.core->role != ledger::Role::kWorker) return INT_MAX;
    return std::abs(core.column - column) + std::abs(core.row - row);
  };
  const auto found = std::min_element(
      cores.begin(), cores.end(),
      [&](const PlacedCore& a, const PlacedCore& b) { return distance(a) < distance(b); });
  return found == cores.end() ? nullptr : &*found;
}

Chip place_cores(const std::vector<CoreView>& cores) {
  Chip chip;
  chip.by_network = !cores.empty() && std::all_of(cores.begin(), cores.end(), [](const auto& core) {
    return core.noc_x != kNoPlace && core.noc_y != kNoPlace;
  });
  if (chip.by_network) {
    for (const CoreView& core : cores) chip.cores.push_back({core.noc_x, core.noc_y, &core});
    close_up(chip.cores, &PlacedCore::column);
    close_up(chip.cores, &PlacedCore::row);
  } else {
    chip.cores = by_logic(cores);
  }
  for (const PlacedCore& core : chip.cores) {
    chip.columns = std::max(chip.columns, core.column + 1);
    chip.rows = std::max(chip.rows, core.row + 1);
  }
  return chip;
}

CoreReading read_core(const CoreView& core, CoreFigure figure, std::uint64_t largest_kernel) {
  const std::uint64_t all = core.l1_bytes.value_or(0);
  const std::uint64_t beside = core.fixed + core.ring;
  const std::uint64_t usable = all > beside ? all - beside : 0;
  CoreReading reading;
  switch (figure) {
    case CoreFigure::kUsed:
      reading.part = ratio(core.program_l1 + core.buffers + core.l1_small, usable);
      break;
    case CoreFigure::kHeadroom: {
      if (!core.headroom) return {0, "?", false};
      reading.clash = *core.headroom < 0;
      const double left =
          ratio(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *core.headroom)), usable);
      reading.part = 1 - left;
      reading.text = reading.clash ? "!!" : percent(left);
      return reading;
    }
    case CoreFigure::kProgramL1:
      reading.part = ratio(core.program_l1, usable);
      break;
    case CoreFigure::kKernels:
      reading.part = ratio(core.kernel_footprint, largest_kernel);
      reading.text = fmt::format("{}", core.kernel_footprint / 1024);
      return reading;
    case CoreFigure::kRing:
      reading.part = ratio(core.ring_used, core.ring);
      break;
  }
  reading.text = percent(reading.part);
  return reading;
}

std::string_view title(CoreFigure figure) {
  switch (figure) {
    case CoreFigure::kUsed:
      return "L1 used, %";
    case CoreFigure::kHeadroom:
      return "headroom left, %";
    case CoreFigure::kProgramL1:
      return "program L1, %";
    case CoreFigure::kKernels:
      return "kernels, KiB";
    case CoreFigure::kRing:
      return "ring used, %";
  }
  return "";
}

}  // namespace ttmem::top
