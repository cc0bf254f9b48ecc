// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The events of one process in words. A segment's event says only "slot i is now this"; it is put
// into the ledger of the process, which knows what stood there and tells what that means. So an
// event goes by the same rules as every figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/clock.hpp"
#include "ledger/event.hpp"
#include "ledger/process_ledger.hpp"
#include "segment/reader.hpp"

namespace ttmem::collect {

// What a process adds to the totals of each of its devices.
using Shares = std::vector<ledger::EventDevice>;

struct DecodedEvent {
  ledger::EventView view;         // without the process; `devices` without ids and totals
  std::optional<Shares> changed;  // from here on, if they are others than before
};

struct EventBatch {
  bool restart = false;  // what the process added so far is replaced by `initial`
  Shares initial;
  std::vector<DecodedEvent> events;  // oldest first
};

class EventDecoder {
 public:
  // All of it must outlive the decoder.
  EventDecoder(const segment::Reader& reader, const TickClock& clock, ledger::ProcessLedger& ledger)
      : reader_(reader), clock_(clock), ledger_(ledger) {}

  // The ledger is at the state before the run: brings it to the state after it.
  void follow(const segment::EventRun& run);
  // The ledger is at the state after the run already, because it was read from the table: goes back
  // as far as the run tells what stood before, follows it, and ends where it began. `missed` events
  // before the run are lost.
  void retell(const segment::EventRun& run, std::uint64_t missed);

  EventBatch take();
  // The end of the process, once.
  DecodedEvent ended(ledger::TimeNs time, ledger::Ended how) const;

 private:
  void tell(std::uint64_t number, const segment::Event& event);
  std::optional<ledger::EventView> tell_note(const segment::Payload& note);
  std::optional<ledger::EventView> tell_slot(std::uint32_t slot, const segment::Payload& payload);
  void add_devices(ledger::SetIndex set, ledger::EventView& view) const;
  void add_device(ledger::DeviceIndex device, ledger::EventView& view) const;
  void open_devices(const segment::EventRun& run);
  segment::Payload before(const segment::Payload& first, std::uint64_t floor) const;
  std::uint64_t first_dispatch(std::uint64_t workload) const;
  std::uint64_t ticks_of(ledger::EventKind kind, const segment::Payload& payload) const;
  ledger::TimeNs not_before(std::uint64_t ticks);
  Shares shares() const;
  std::string name_of(std::uint64_t workload);
  void note_name(segment::Kind kind, const ledger::EventView& view);

  const segment::Reader& reader_;
  const TickClock& clock_;
  ledger::ProcessLedger& ledger_;
  std::uint64_t ticks_ = 0;  // of the latest event told
  ledger::TimeNs time_ = 0;  // the same by the clock on the wall
  Shares shares_;            // after it
  bool may_differ_ = true;   // the shares since then
  // What workloads launch; all of them once the table was asked for those of before.
  std::unordered_map<std::uint64_t, std::string> names_;
  bool has_all_names_ = false;
  EventBatch batch_;
};

}  // namespace ttmem::collect
