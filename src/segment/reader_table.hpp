// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Following the live table: from "everything" to "what changed since event n", always as the exact
// state after one event.
//
//   head n0 ──▶ the table, block by block, each block twice ──▶ head n1 ──▶ events n0+1 .. n1
//                                                                          repair what was read
//                                                                          too early
//
// Later looks read only new events. If the ring was overrun in between, the table is read again,
// and only slots with a version above n are handed over.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "segment/format.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::segment {

// ---- the event ring ----------------------------------------------------------------------------
//
// It is read while it is overwritten. Record n stands at n % capacity until event n + capacity
// comes; so a copy is good if, after copying, the head is still far enough below that.

// Consecutive events; `first` is the number of events.front().
struct EventRun {
  std::uint64_t first = 0;
  std::vector<Event> events;
  bool complete = false;  // everything that was asked for is here; else its oldest part is missing

  std::uint64_t last() const { return first + events.size() - 1; }
};

// The number of the last event, now.
bool read_head(const ReadOnlyFile& file, std::uint64_t& head);

// Events from..to (inclusive; `to` is at most one beyond the head, for a writer that stopped before
// moving it), as many of them as the ring still holds, without holes: what was overwritten is left
// out at the old end, and so is what is more than kMaxEventsAtOnce.
EventRun read_events(const ReadOnlyFile& file, const SectionPlace& ring, std::uint64_t from,
                     std::uint64_t to);

// ---- the live table ----------------------------------------------------------------------------

// Receives the state, slot by slot. The same slot may come more than once; the last call counts.
class SlotSink {
 public:
  virtual ~SlotSink() = default;
  // The slot now holds this: live, or released, or (kind kNote) nothing that can be read.
  virtual void on_slot(std::uint32_t index, const Payload& payload) = 0;
  // The live words of a workload or trace changed; the rest did not.
  virtual void on_launches(std::uint32_t index, const Payload& payload) = 0;
};

struct TableUpdate {
  std::uint64_t event = 0;      // the state is the one after this event
  std::uint64_t missed = 0;     // events that were overwritten before they were read
  bool table_read = false;      // the table was read: first look, or after an overrun
  bool settled = true;          // false: the writer overran every attempt; `event` is a lower bound
  std::uint64_t unsettled = 0;  // slots that could not be read
  EventRun events;              // the events of this step, if it did without the table
};

class TableReader {
 public:
  TableReader(const SectionPlace& ring, const SectionPlace& table) : ring_(ring), table_(table) {}

  // Brings the sink to the present. `header` is a fresh copy. False: the file cannot be read.
  bool update(ReadOnlyFile& file, const Header& header, SlotSink& sink, TableUpdate& update,
              bool with_launches);

  std::uint64_t event() const { return event_; }
  // For who wants every event, and not the newest state: a look that cannot take all takes the
  // oldest, and the next one goes on there.
  void take_oldest_first() { oldest_first_ = true; }
  // The state before the first event is known: nothing.
  void begin_at_start() { begun_ = true; }

 private:
  struct Pass {
    std::uint64_t newest = 0;                               // event seen in any slot
    std::unordered_map<std::uint32_t, std::uint64_t> late;  // slots newer than the pass itself
    std::vector<std::uint32_t> unsettled;
  };

  bool synchronise(ReadOnlyFile& file, SlotSink& sink, TableUpdate& update);
  bool read_table(const ReadOnlyFile& file, std::uint64_t slots, std::uint64_t start,
                  SlotSink& sink, Pass& pass);
  bool take(const ReadOnlyFile& file, std::uint32_t index, Slot slot, bool settled,
            std::uint64_t start, SlotSink& sink, Pass& pass);
  bool finish_from_ring(const ReadOnlyFile& file, std::uint32_t index, Slot& slot) const;
  void deliver(std::uint32_t index, std::uint64_t event, const Payload& payload, SlotSink& sink);
  bool is_in_table(ReadOnlyFile& file, std::uint32_t slot);
  void apply(ReadOnlyFile& file, std::uint64_t number, const Event& event, SlotSink& sink);
  bool refresh_launches(const ReadOnlyFile& file, const Header& header, SlotSink& sink);
  void retry_unsettled(const ReadOnlyFile& file, SlotSink& sink);

  SectionPlace ring_;
  SectionPlace table_;
  std::uint64_t event_ = 0;  // the sink holds the state after this event
  std::uint64_t order_ = 0;  // launches are as of this stamp
  std::uint64_t slots_ = 0;  // of the table, as of the last time that mattered
  bool asked_slots_ = false;
  bool begun_ = false;
  bool oldest_first_ = false;
  // Live workloads and traces, with the event that wrote them.
  std::unordered_map<std::uint32_t, std::uint64_t> launchers_;
  std::vector<std::uint32_t> unsettled_;
};

}  // namespace ttmem::segment
