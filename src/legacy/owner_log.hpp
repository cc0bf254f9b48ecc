// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What clients make the server say, shared out by owner: who sends nothing but mistakes, or asks
// for one dump after the other, fills neither the log nor the disk. What is left out is counted,
// and the count is told.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "legacy/log.hpp"

namespace ttmem::legacy {

// How much of something one owner may use: so much at once, and so much per second after that. What
// one owner uses up is missing to nobody else.
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

class OwnerLog {
 public:
  using Clock = Allowance::Clock;

  explicit OwnerLog(Log& log) : log_(log) {}

  // Owners are user ids.
  void report(std::uint32_t owner, std::string_view lines, Clock::time_point now = Clock::now());
  void error(std::uint32_t owner, std::string_view lines, Clock::time_point now = Clock::now());
  // Tells what was left out, of whom, since the last time. Costs nothing if nothing was.
  void tell_left_out();

  std::uint64_t left_out() const { return left_out_; }  // lines, ever

 private:
  struct Owner {
    Allowance errors, reports;
    std::uint64_t untold = 0;  // lines
  };
  void leave_out(std::uint32_t uid, Owner& owner, std::string_view lines);

  Log& log_;
  std::map<std::uint32_t, Owner> owners_;
  std::uint64_t left_out_ = 0, untold_ = 0;
};

}  // namespace ttmem::legacy
