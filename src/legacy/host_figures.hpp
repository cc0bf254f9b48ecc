// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What everybody else holds, and what the devices are: the part of an answer that does not come
// from clients of this socket. Read from a snapshot, in the original's measures (requested bytes,
// size x cores).
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "ledger/snapshot.hpp"
#include "legacy/client_holdings.hpp"
#include "legacy/client_segment.hpp"
#include "legacy/wire.hpp"

namespace ttmem::legacy {

struct HostDevice {
  Chip chip;
  Tally tally;
  std::uint64_t total_dram = 0, total_l1 = 0;  // 0 = not known
  std::uint32_t dram_channels = 0, l1_bytes_per_core = 0;
  std::uint32_t ring_capacity = 0, ring_used = 0, ring_programs = 0;
};

using HostFigures = std::map<std::int32_t, HostDevice>;  // by number of the device

// `is_client`: the process is served here, and its figures come from its client.
HostFigures host_figures(const ledger::Snapshot& snapshot,
                         const std::function<bool(const ledger::ProcessView&)>& is_client);

// The capacity fields of an answer.
void describe(const HostDevice& device, Answer& answer);

}  // namespace ttmem::legacy
