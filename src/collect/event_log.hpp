// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The events of all processes in one stream: merged by time, with the ids of the document and the
// totals that a device had after each one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "collect/event_decoder.hpp"
#include "collect/segment_source.hpp"
#include "ledger/event.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::collect {

class EventLog {
 public:
  // Decodes what the source saw in its last update.
  void add(SegmentSource& source, ledger::TimeNs now);
  // The source is about to go away.
  void drop(const SegmentSource& source, ledger::TimeNs now);
  // Ends one round: everything added since the last one becomes part of the stream.
  void merge(const ledger::Snapshot& snapshot);

  std::vector<ledger::EventView> take();

 private:
  struct Process {
    std::unique_ptr<EventDecoder> decoder;
    Shares shares;  // what it adds to the totals
    bool ended = false;
  };
  void end(Process& process, const SegmentSource& source, ledger::TimeNs now);
  void apply(const DecodedEvent& event, Process& process);

  std::unordered_map<std::uint64_t, Process> processes_;  // by key
  Shares totals_;
  std::vector<DecodedEvent> round_;
  std::vector<ledger::EventView> stream_;
};

}  // namespace ttmem::collect
