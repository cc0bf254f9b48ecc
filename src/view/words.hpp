// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Names of what a snapshot says, as they stand in JSON; the ledger names its own words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/event.hpp"
#include "ledger/figures.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::view {

std::string_view name(ledger::Ended ended);  // "alive", "closed", "died", "exec"
std::string_view name(ledger::Source source);
std::string_view name(ledger::HoldingKind kind);
std::string_view name(ledger::Stretch stretch);
std::string_view name(ledger::Basis basis);
std::string_view name(ledger::PeakBasis basis);

// "brisc", "trisc0", "compute"; "" = not known.
std::string_view processor_name(std::uint8_t processor);
// "unknown_free", "audit", ...; "anomaly_15" for a kind this version does not know.
std::string anomaly_name(std::size_t kind);

// "DRAM", "L1_SMALL": as the original's log lines and people write them.
std::string_view title(ledger::Space space);
// "Application", "Fabric", "Dispatch".
std::string_view title(ledger::KernelType type);
// "Wormhole_B0", "Blackhole".
std::string_view title(ledger::Arch arch);

}  // namespace ttmem::view
