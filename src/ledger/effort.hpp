// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one process may cost. Records come from strangers, and a few of them can ask for more work
// than all honest ones: 100,000 groups of buffers on 255 chips, or 2,000 lists of 1,000 addresses.
// Every loop whose length is a product of what a process says spends its steps here before it runs;
// one that asks for more than there is ends with TooMuch, and with it what was being worked out
// about this process, and nothing else.
#pragma once

#include <cstdint>
#include <exception>

namespace ttmem::ledger {

class TooMuch : public std::exception {
 public:
  const char* what() const noexcept override {
    return "what it says would take too long to work out";
  }
};

class Effort {
 public:
  // A step is about 10 ns. All figures of a process on a mesh of 32 chips with 1,000 kinds of
  // buffers and 10,000 programs take less than 5 million.
  static constexpr std::uint64_t kMost = 1ull << 25;
  // So much is what has to be looked up, or is kept and not only looked at.
  static constexpr std::uint64_t kHeavy = 16;

  std::uint64_t left() const { return left_; }
  void renew(std::uint64_t left = kMost) const { left_ = left; }
  void spend(std::uint64_t steps) const {
    if (steps > left_) {
      left_ = 0;
      exhausted_ = true;
      throw TooMuch();
    }
    left_ -= steps;
  }
  // It was once not enough.
  bool exhausted() const { return exhausted_; }

 private:
  mutable std::uint64_t left_ = kMost;
  mutable bool exhausted_ = false;
};

// Asks one of many processes. If that is too much it is left out, and only that one: its ledger
// remembers.
template <typename Ask>
void unless_too_much(Ask&& ask) {
  try {
    ask();
  } catch (const TooMuch&) {
    return;
  }
}

}  // namespace ttmem::ledger
