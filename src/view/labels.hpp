// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Labels for people, where the names of the ledger's enums are not enough, and what they write for
// a core.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ledger/enums.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::view {

// "DRAM", "L1_SMALL": as the original's log lines and people write them.
std::string_view title(ledger::Space space);
// "Application", "Fabric", "Dispatch".
std::string_view title(ledger::KernelType type);
// "Wormhole_B0", "Blackhole".
std::string_view title(ledger::Arch arch);

// "0x2a" or "42".
std::optional<std::uint64_t> parse_id(std::string_view text);
// "0,3" or "active_eth:0,3"; empty if it is not a core.
std::optional<ledger::Core> parse_core(std::string_view text);

// What a space holds, and the word for it: what is taken, or what was requested where that is more,
// because of some processes only the bytes are known that they asked for.
struct Amount {
  ledger::Figure bytes;
  std::string_view word;  // "taken", "requested"
};
Amount amount(const ledger::SpaceFigures& space);

// Of a program: how many cores it covers, and its L1 on the fullest of them. Empty where it has
// kernels or L1 and nobody told on which cores: that is not none.
ledger::Figure known_cores(const ledger::ProgramView& program);
ledger::Figure known_l1_per_core(const ledger::ProgramView& program);
// Its slice of the ring of each core type. Empty where it has kernels and nobody told their sizes.
using RingBytes = std::array<ledger::Figure, ledger::kCoreTypes>;
RingBytes known_ring_bytes(const ledger::ProgramView& program);
// Of a kernel or a range. Where nobody told the cores, the size that was told may be that of one
// binary or of all of them together.
ledger::Figure known_cores(const ledger::HoldingView& holding);
ledger::Figure known_binary(const ledger::HoldingView& kernel);

}  // namespace ttmem::view
