// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The steps of one process: a token, a batch, whatever its loop does again and again. Marks tell
// them; else they are found from the sequence of operations and lines that allocate, as soon as all
// of what was seen lately is three times the same.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::explain {

class StepFinder {
 public:
  // A mark: from the first one on, only marks count.
  void mark(ledger::TimeNs time);
  // An allocation: `what` stands for its operation and line.
  void allocated(std::uint64_t what, ledger::TimeNs time);
  // Something was missed: what was seen before does not join what comes.
  void missed();

  // When steps began, the last 64.
  const std::deque<ledger::TimeNs>& begins() const { return begins_; }
  std::uint64_t count() const { return count_; }  // that began so far
  bool is_marked() const { return marked_; }

 private:
  void add(ledger::TimeNs time);
  void search();

  std::deque<ledger::TimeNs> begins_;
  std::uint64_t count_ = 0;
  bool marked_ = false;
  std::vector<std::uint64_t> seen_;  // since the last surprise, at most kMostSeen
  std::size_t period_ = 0;           // 0 = not found
  std::size_t in_step_ = 0;          // allocations since the step began
  ledger::TimeNs previous_ = 0;      // when the allocation before happened
};

}  // namespace ttmem::explain
