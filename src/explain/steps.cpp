// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/steps.hpp"

#include <numeric>
#include <utility>

namespace ttmem::explain {
namespace {

constexpr std::size_t kMostSeen = 16384;
constexpr std::size_t kMostBegins = 64;
constexpr std::size_t kRepeats = 3;
constexpr std::size_t kSearchEvery = 32;  // allocations

// The shortest period of the last part of `seen` that is as long as it can be
// said of: what came before, such as loading weights, need not repeat. 0 if
// there is none.
std::size_t period_of(const std::vector<std::uint64_t>& seen) {
  // Borders of the reversed sequence are periods of its end.
  std::vector<std::size_t> border(seen.size());
  const auto at = [&](std::size_t i) { return seen[seen.size() - 1 - i]; };
  std::size_t best = 0, covered = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && at(i) != at(length)) length = border[length - 1];
    border[i] = at(i) == at(length) ? length + 1 : 0;
    const std::size_t period = i + 1 - border[i];
    if ((i + 1) < kRepeats * period) continue;
    // Inner loops repeat too, but what they cover is shorter.
    if (i + 1 > covered) {
      covered = i + 1;
      best = period;
    }
  }
  return best;
}

}  // namespace

void StepFinder::add(ledger::TimeNs time) {
  begins_.push_back(time);
  if (begins_.size() > kMostBegins) begins_.pop_front();
  ++count_;
}

void StepFinder::mark(ledger::TimeNs time) {
  if (!marked_) {
    marked_ = true;
    begins_.clear();
    count_ = 0;
    seen_.clear();
  }
  add(time);
}

void StepFinder::missed() {
  if (marked_) return;
  seen_.clear();
  period_ = in_step_ = 0;
}

void StepFinder::allocated(std::uint64_t what, ledger::TimeNs time) {
  const ledger::TimeNs previous = std::exchange(previous_, time);
  if (marked_) return;
  seen_.push_back(what);
  if (seen_.size() > kMostSeen) {
    seen_.erase(seen_.begin(), seen_.begin() + static_cast<std::ptrdiff_t>(kMostSeen / 2));
  }
  if (period_ == 0) {
    if (seen_.size() % kSearchEvery == 0) search();
    return;
  }
  if (seen_.size() <= period_ || seen_[seen_.size() - 1 - period_] != what) {
    period_ = in_step_ = 0;  // a surprise: look again
    seen_.assign(1, what);
    return;
  }
  if (++in_step_ < period_) return;
  in_step_ = 0;
  // Not at the allocation itself: each look tells its time anew, some nanoseconds apart.
  add(std::midpoint(previous, time));
}

void StepFinder::search() {
  period_ = period_of(seen_);
  in_step_ = 0;
}

}  // namespace ttmem::explain
