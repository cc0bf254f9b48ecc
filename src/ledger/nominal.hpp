// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a chip has by its board's data sheet, for chips of which no process has told anything. It is
// shown as nominal: harvesting, firmware and dispatch leave less to programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ledger/enums.hpp"

namespace ttmem::ledger {

struct NominalCapacity {
  std::uint64_t dram_bytes = 0;
  std::uint32_t dram_channels = 0;
  std::uint32_t tensix_cores = 0;
  std::uint32_t l1_bytes_per_core = 0;

  std::uint64_t l1_bytes() const { return std::uint64_t{tensix_cores} * l1_bytes_per_core; }
  bool operator==(const NominalCapacity&) const = default;
};

// Of one chip of that board ("n300"), or of what its architecture has at most; nothing if neither
// is known.
std::optional<NominalCapacity> nominal_capacity(std::string_view board, Arch arch);

}  // namespace ttmem::ledger
