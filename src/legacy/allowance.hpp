// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How much of something one owner may use: so much at once, and so much per second after that. What
// one owner uses up is missing to nobody else.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

namespace ttmem::legacy {

class Allowance {
 public:
  using Clock = std::chrono::steady_clock;

  struct Rate {
    double at_once = 0;
    double per_second = 0;
  };

  // True if that much is left; then it is taken.
  bool take(double amount, const Rate& rate, Clock::time_point now) {
    if (filled_) {
      const double seconds = std::chrono::duration<double>(now - *filled_).count();
      left_ = std::min(rate.at_once, left_ + std::max(seconds, 0.0) * rate.per_second);
    } else {
      left_ = rate.at_once;
    }
    filled_ = now;
    if (left_ < amount) return false;
    left_ -= amount;
    return true;
  }

 private:
  double left_ = 0;
  std::optional<Clock::time_point> filled_;
};

}  // namespace ttmem::legacy
