// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The events of all processes in one stream: merged by time, with the ids of the document and the
// totals that a device had after each one, over the processes that were alive.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "collect/event_decoder.hpp"
#include "collect/segment_source.hpp"
#include "ledger/event.hpp"
#include "ledger/saturating.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::collect {

class EventLog {
 public:
  // Takes what the source saw since the last time.
  void add(SegmentSource& source, ledger::TimeNs now);
  // The source is about to go away.
  void drop(const SegmentSource& source, ledger::TimeNs now);
  // Ends one round: everything added since the last one becomes part of the stream.
  void merge(const ledger::Snapshot& snapshot, const ChipsOfUsers& all_chips);

  std::vector<ledger::EventView> take();

 private:
  struct Process {
    ledger::Owner name;                      // as in the latest snapshot that had it
    Shares shares;                           // what it adds to the totals
    std::vector<std::uint64_t> disbelieved;  // of these devices it adds nothing
    bool ended = false;
    bool gone = false;  // its source is: forgotten after this round
    std::uint32_t user = 0;
  };
  struct Total {
    ledger::Wide kernels_footprint = 0, kernels_estimated = 0, program_l1_allocated = 0;
  };
  void end(Process& process, const SegmentSource& source, ledger::TimeNs now);
  void replace(Process& process, Shares shares);
  void believe(Process& process, const ledger::ProcessView& view);
  void forget();

  std::unordered_map<std::uint64_t, Process> processes_;  // by key
  std::map<std::uint64_t, Total> totals_;                 // by unique id
  struct RoundEvent {
    std::uint64_t process = 0;  // key
    DecodedEvent event;
  };
  std::vector<RoundEvent> round_;
  std::vector<ledger::EventView> stream_;
};

}  // namespace ttmem::collect
