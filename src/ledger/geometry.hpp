// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How large is a chip? Every process that opened it says so, and anybody may say anything. Believed
// is the first of
//
//   1. those who speak for others: the reader's own processes, root's and the daemon's
//   2. what most owners agree on, each with one voice; of as many, the one who came first
//
// Who contradicts what is believed, or claims to hold more than there is, is shown with its own
// figures and a mark, and is in no figure of the device: nobody raises another's totals beyond the
// capacity. To say less of a chip, or nothing, is no contradiction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ledger/figures.hpp"
#include "ledger/records.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// What one process says of one chip.
struct Claim {
  bool trusted = false;
  bool alive = false;
  bool is_false = false;  // of a process that is another user's: no voice, and in no figure
  std::uint32_t owner = 0;
  std::uint64_t start = 0;       // kMost: only the process itself says when
  std::uint16_t dram_banks = 0;  // 0: it does not say
  std::uint64_t dram_bank_bytes = 0;
  std::uint32_t l1_bytes = 0;                      // per core
  std::uint64_t dram_capacity = 0, dram_held = 0;  // or of the trace region; held now, or ever
  std::uint64_t l1_capacity = 0, l1_held = 0;      // with L1_SMALL and what programs occupy
};

// `record` is null where only totals are known.
Claim claim_of(const DeviceRecord* record, const DeviceFigures& figures);

struct Verdict {
  std::size_t believed = 0;                   // the claim that the chip is described by first
  std::vector<Contradiction> contradictions;  // one each
};
Verdict judge(const std::vector<Claim>& claims);

}  // namespace ttmem::ledger
