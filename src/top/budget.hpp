// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How long reading rests after a look. Looks may spend what time earns them, a share of a core, and
// a look is due once a second whatever it costs: with very many processes the data come less often
// than asked for, and keys are still answered at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace ttmem::top {

class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  static constexpr double kShare = 0.035;
  static constexpr Seconds kLongestRest{1.0};

  explicit Budget(Clock::time_point start) : since_(start) {}

  // After a look from `begin` to `end` that took `cpu`, of a reader that wants one every
  // `interval`.
  Seconds rest(Clock::time_point begin, Clock::time_point end, Seconds cpu, Seconds interval) {
    const Seconds earned = Seconds(end - std::exchange(since_, end)) * kShare;
    saved_ = std::clamp<Seconds>(saved_ + earned - cpu, -kMost, kMost);
    return std::max<Seconds>(interval - (end - begin), -saved_ / kShare);
  }

 private:
  static constexpr Seconds kMost = kLongestRest * kShare;  // that is saved or owed
  Seconds saved_{};
  Clock::time_point since_;
};

}  // namespace ttmem::top
