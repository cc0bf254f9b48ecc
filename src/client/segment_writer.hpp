// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include "client/errno_keeper.hpp"
#include "client/figures.hpp"
#include "client/interner.hpp"
#include "client/origins.hpp"
#include "client/peaks.hpp"
#include "client/slot_index.hpp"
#include "client/store.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

// What all parts of a recorder write into.
struct SegmentWriter {
  Store store;
  Interner interner;
  Origins origins;
  Figures figures;
  Peaks peaks;
  IndexOverflow overflow;  // of all indices that are used under the gate

  // Records of one kind that a part reserves addresses for: fewer in a host that is short of them.
  std::uint32_t most_records() const;

  // Counts and notes what could not be matched. Takes the lock.
  void report(std::uint32_t anomaly, std::uint64_t id, std::uint16_t set = 0);
  // The same, for a call that leaves no trace in the table.
  void refuse(std::uint32_t anomaly, std::uint64_t id);

  // A slot for the cold path, which may grow the table first. kNoSlot: counted as unrecorded.
  std::uint32_t take_slot(SlotPool pool);
  // Commits under the lock.
  void commit(std::uint32_t slot, const segment::Payload& payload);
  void release(std::uint32_t slot, SlotPool pool);
  void note(segment::Note note, const segment::Payload& payload);
  // Enters a value of the cold path; `index` grows first if it should.
  bool enter(SlotIndex& index, std::uint32_t tag, std::uint32_t value);
};

// Everything of the cold path begins with this: the gate, errno, and a look at the file now and
// then.
class ColdCall {
 public:
  explicit ColdCall(Store& store);
  ~ColdCall();
  ColdCall(const ColdCall&) = delete;
  ColdCall& operator=(const ColdCall&) = delete;

 private:
  ErrnoKeeper errno_;
  Store& store_;
};

}  // namespace ttmem::client
