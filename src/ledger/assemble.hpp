// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From the ledgers of many processes to one snapshot of the host: devices are merged by (unique id,
// architecture, mock or not), sums run over the processes that are alive, and what cannot be added
// (reserved, peak, largest free block, headroom, ring) follows its own rule.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ledger/process_ledger.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

// Converts ticks of a process's clock to wall-clock nanoseconds; 0 stays 0.
using TickConverter = std::function<TimeNs(Ticks)>;

struct ProcessInput {
  ProcessView identity;                   // everything but `devices`
  const ProcessLedger* ledger = nullptr;  // null: known from outside totals only
  std::vector<OutsideTotals> outside;
  TickConverter to_time;
};

// The largest totals a long-lived reader has seen, by device; used when several processes shared it.
class PeakMemory {
 public:
  void observe(DeviceView& device);  // raises the memory, then fills the device's peaks

 private:
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::array<std::uint64_t, kSpaces>> peaks_;
};

Snapshot assemble(const std::vector<ProcessInput>& processes, PeakMemory& peaks);

}  // namespace ttmem::ledger
