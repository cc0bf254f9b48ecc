// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From the ledgers of many processes to one snapshot of the host: devices are merged by (unique id,
// architecture, mock or not), sums run over the processes that are alive and contradict nobody
// (geometry.hpp), and what cannot be added (reserved, peak, largest free block, headroom, ring)
// follows its own rule.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/figure_table.hpp"
#include "ledger/launch_watch.hpp"
#include "ledger/peaks.hpp"
#include "ledger/process_ledger.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

struct ProcessInput {
  ProcessView identity;                   // everything but `devices`
  const ProcessLedger* ledger = nullptr;  // null: known from outside totals only
  // What it says of a chip needs nobody's consent: root's, the daemon's, the reader's own.
  bool trusted = true;
  // It names a process of another user, for whom its owner may not speak: shown, and nothing more.
  bool is_false_claim = false;
  bool start_is_known =
      true;  // the kernel says so; of a process of another namespace its file does
  std::vector<OutsideTotals> outside;
  std::function<TimeNs(Ticks)> to_time;     // to wall-clock nanoseconds
  std::function<PeakRecords()> peaks = {};  // asked when needed; none: not known
  const LaunchWatch* watch = nullptr;       // null: nobody watches its launches
};

// The largest totals a long-lived reader has seen, by device; used when several processes shared
// it.
class PeakMemory {
 public:
  void observe(DeviceView& device);  // raises the memory, then fills the device's peaks
  // Ends a look at all devices. Chips that are not there any more are remembered, up to a number
  // that no host has: names of chips are claims too.
  void end_look();

 private:
  struct Peaks {
    std::array<std::uint64_t, kPeaks> bytes{};
    std::uint64_t seen = 0;  // the last look that had it
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, Peaks> peaks_;  // by id; architecture and mock
  std::uint64_t look_ = 1;
};

// `totals_only` leaves out largest free blocks and headroom. Host, boot and time are the caller's.
Snapshot assemble(const std::vector<ProcessInput>& processes, PeakMemory& peaks,
                  bool totals_only = false);

// Calls visit(process, its index of the device) for every living process that has it open and
// counts on it.
void for_each_open(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                   const DeviceView& device,
                   const std::function<void(const ProcessInput&, DeviceIndex)>& visit);

// ---- details of many processes, in the words of their `snapshot` --------------------------------

Naming naming_of(const ProcessInput& process, const Snapshot& snapshot);

// The cores of a device as all living processes together fill them. Bytes that two processes claim
// count once, so that every core still adds up to its L1. With `only`, that core.
std::vector<CoreView> merge_cores(const std::vector<ProcessInput>& processes,
                                  const Snapshot& snapshot, const DeviceView& device, bool with_map,
                                  std::optional<Core> only = {});
// The workers of a device: what each living process uses of them, added up.
std::vector<CoreUse> merge_core_use(const std::vector<ProcessInput>& processes,
                                    const Snapshot& snapshot, const DeviceView& device);
// Every holding of every process, the dead included, by process and slot.
void for_each_holding(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                      const std::function<void(const HoldingView&)>& visit);
// The live programs: those of the dead are holdings, and nothing else.
std::vector<ProgramView> all_programs(const std::vector<ProcessInput>& processes,
                                      const Snapshot& snapshot, bool with_launches = false);
// The open rings of a device, by process.
std::vector<RingView> all_rings(const std::vector<ProcessInput>& processes,
                                const Snapshot& snapshot, const DeviceView& device);

// One DRAM bank of a device from bottom to top: buffers, and the free blocks between them. Buffers
// have the same address in every bank, so one bank stands for all. DRAM and
// the trace region, as far as an allocator of a living process covers them.
std::vector<BankMap> bank_maps(const std::vector<ProcessInput>& processes, const Snapshot& snapshot,
                               const DeviceView& device);

// ---- merge.cpp: two readers of one host put together
// ---------------------------------------------

// One sees its own user's processes, the other, a daemon, those of everybody. Adds the processes
// that only `theirs` knows, labelled Source::kDaemon, and counts them in the sums of their devices.
// A process that both know stays as it is in `mine`, unless only `theirs` has its segment.
// Snapshots of different boots have nothing to do with each other: then false, and nothing is
// changed.
bool add_processes(const Snapshot& theirs, Snapshot& mine);

// Whether it is not known of this process when it ended: only who was looking then can tell.
bool lacks_end(const ProcessView& process);
// Adds when processes that both know ended, where only `theirs` knows it.
void add_ends(const Snapshot& theirs, Snapshot& mine);

}  // namespace ttmem::ledger
