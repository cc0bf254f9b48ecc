// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The list of a failure: every live buffer of the space that failed, written straight into the
// segment. The lists of the failures that are kept lie side by side in one section; a new one takes
// a gap between them, so that nobody's list is touched while its failure can be read.
#pragma once

#include <cstdint>

#include "client/store.hpp"

namespace ttmem::client {

class FailureList {
 public:
  // Finds room for `wanted` entries, fewer if there is no more. Calls the system.
  void place(Store& store, std::uint64_t wanted);
  void clear();  // to be filled from the start
  // Slots come in ascending order while the table is searched.
  void add(std::uint32_t slot, const segment::Payload& payload);
  // After the search, under the lock: the slot holds this now. `listed`: it belongs here.
  void replace(std::uint32_t slot, const segment::Payload& payload, bool listed);
  void cut() { cut_ = true; }  // something may be missing
  void describe(segment::Failure& record) const;

 private:
  segment::Slot* find(std::uint32_t slot) const;

  segment::Slot* entries_ = nullptr;
  std::uint64_t first_ = 0, room_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t sorted_ = 0;  // of these, from the search
  bool searching_ = false;
  bool cut_ = false;
};

}  // namespace ttmem::client
