// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// An answer has a limit, in bytes or in rows. Every user whose processes it could be about has the
// same share of it; rows beyond the share of their owner are left out and counted, so that nobody
// can fill what others ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "ledger/snapshot.hpp"

namespace ttmem::view {

class AnswerShares {
 public:
  explicit AnswerShares(std::size_t bytes) : bytes_(bytes) {}

  void add(const ledger::ProcessView& process) {
    owners_[process.key] = process.uid;
    users_.insert(process.uid);
  }
  // Whether a row about this process still fits; then it takes its bytes.
  bool take(std::uint64_t process_key, std::size_t bytes) {
    const auto owner = owners_.find(process_key);
    std::size_t& taken = taken_[owner == owners_.end() ? ~0u : owner->second];
    const bool fits = taken + bytes <= bytes_ / (users_.empty() ? 1 : users_.size());
    if (fits) taken += bytes;
    left_out_ += fits ? 0 : 1;
    return fits;
  }
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::size_t bytes_;
  std::map<std::uint64_t, std::uint32_t> owners_;  // by key of the process
  std::set<std::uint32_t> users_;
  std::map<std::uint32_t, std::size_t> taken_;
  std::uint64_t left_out_ = 0;
};

}  // namespace ttmem::view
