// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Would it fit: tensors are placed one after the other into the holes of a device as it is now, or
// of an empty one, by the runtime's own place rule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/tensor.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::explain {

// The device that is asked about.
struct FitTarget {
  std::string device;  // "device 0 as process 4711 has it", "an empty n150"
  bool empty = false;  // nobody has it open, or a board was named
  ledger::Arch arch = ledger::Arch::kUnknown;
  ledger::SpacePicture dram, l1;
  Grid l1_grid;  // as the banks of L1 lie; 0 x 0 = not known
};

// Of the cores of a chip, those that are banks of L1: dispatch takes whole rows or whole columns.
Grid compute_grid(Grid cores, std::uint64_t l1_banks);

struct Board {
  const char* name;
  ledger::Arch arch;
  std::uint32_t chips;
  std::uint32_t dram_banks;
  std::uint64_t dram_bank_bytes, dram_base;
  Grid l1_grid;
  std::uint64_t l1_bank_bytes, l1_base;
};
// Boards as ttnn 0.81.1 opens one chip of them, with no L1_SMALL and no trace region.
const std::vector<Board>& boards();
FitTarget empty_target(const Board& board, std::uint64_t l1_small_bytes,
                       std::uint64_t trace_region_bytes);

struct FitRow {
  TensorSpec tensor;  // what one chip has of it
  TensorBytes bytes;
  std::string problem;                        // why it cannot be computed; "" = it can
  std::optional<ledger::AddressRange> place;  // empty: it does not fit
};

// A program in the cache that would reach into the lowest buffer.
struct FitClash {
  std::string program, line;
  std::uint64_t end = 0, lowest_buffer = 0;
};

struct FitSpace {
  ledger::Space space = ledger::Space::kDram;
  std::uint32_t banks = 0;
  std::uint64_t asked = 0;  // blocks of one bank
  std::uint64_t free_before = 0, free_after = 0, largest_after = 0;
};

struct Fit {
  bool fits = false;
  std::vector<FitRow> rows;
  std::vector<FitSpace> spaces;  // that were asked for
  std::vector<FitClash> clashes;
};

Fit fit(const std::vector<TensorSpec>& tensors, const FitTarget& target);

// The largest number for which what `make` gives fits; 0 if not even 1 does. Empty: there is no
// limit below 2^40, so it does not depend on the number.
std::optional<std::uint64_t> largest_that_fits(
    const std::function<std::vector<TensorSpec>(std::uint64_t)>& make, const FitTarget& target);

}  // namespace ttmem::explain
