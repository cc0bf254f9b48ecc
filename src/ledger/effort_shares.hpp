// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one question about many processes may cost. Each process has its limit (effort.hpp), but a
// stranger may have hundreds, each just below it: together, those of one owner have little more
// than one alone. Whoever is beyond is left out of the answer, its ledger remembers, and a reader
// gives its file up by name.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "ledger/assemble.hpp"
#include "ledger/effort.hpp"

namespace ttmem::ledger {

class EffortShares {
 public:
  // Two thirds of a second, of one owner.
  static constexpr std::uint64_t kMostOfOne = 2 * Effort::kMost;

  template <typename Ask>
  void ask(const ProcessInput& process, Ask&& ask) {
    if (process.trusted || !process.ledger) return unless_too_much(std::forward<Ask>(ask));
    std::uint64_t& left = left_.try_emplace(process.identity.uid, kMostOfOne).first->second;
    const std::uint64_t before = process.ledger->begin_question(left);
    unless_too_much(std::forward<Ask>(ask));
    left -= before - process.ledger->end_question();
  }

 private:
  std::map<std::uint32_t, std::uint64_t> left_;
};

}  // namespace ttmem::ledger
