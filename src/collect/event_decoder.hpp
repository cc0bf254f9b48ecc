// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The events of one process in words. A segment's event says only "slot i is now this"; here it is
// compared with what stood there, and becomes "buffer freed" or "program loaded".
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collect/segment_source.hpp"
#include "collect/slot_shadow.hpp"
#include "ledger/event.hpp"

namespace ttmem::collect {

// Totals of one process on one device, in the measure of the original's counters.
struct DeviceShare {
  std::int64_t kernels_footprint = 0;
  std::int64_t program_l1_allocated = 0;
};
using Shares = std::map<std::uint64_t, DeviceShare>;  // by unique id

struct DecodedEvent {
  ledger::EventView view;  // `devices` without ids and totals
  DeviceShare change;      // on each of its devices
};

class EventDecoder {
 public:
  explicit EventDecoder(const SegmentSource& source);

  struct Batch {
    bool restart = false;  // what this process added to the totals so far is replaced by `initial`
    Shares initial;
    std::vector<DecodedEvent> events;
  };
  // The events of the last update, oldest first.
  Batch decode(RawEvents raw);
  // The end of the process, once.
  DecodedEvent ended(ledger::TimeNs time) const;

 private:
  DecodedEvent decode(std::uint64_t number, const segment::Event& event);
  bool is_told(const segment::Event& event) const;
  void tell_note(const segment::Payload& note, DecodedEvent& event);
  void tell_buffer(const segment::Payload& before, const segment::Payload& after,
                   DecodedEvent& event);
  void tell_program(const segment::Payload& before, const segment::Payload& after,
                    DecodedEvent& event);
  void tell_launcher(const segment::Payload& before, const segment::Payload& after,
                     DecodedEvent& event);
  void add_devices(std::uint16_t set, ledger::EventView& view) const;
  void add_device(std::uint64_t index, ledger::EventView& view) const;
  std::string text(std::uint32_t blob) const;
  ledger::EventView start(ledger::EventKind kind, ledger::TimeNs time) const;
  ledger::TimeNs not_before(std::uint64_t ticks);

  const SegmentSource& source_;
  SlotShadow shadow_;
  std::uint64_t ticks_ = 0;  // of the latest event told
};

}  // namespace ttmem::collect
