// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/clocks.hpp"

#include <time.h>

#include <algorithm>

namespace ttmem::serve::history {
namespace {

constexpr TimeNs kSecond = 1'000'000'000;
constexpr TimeNs kEven = 2 * kSecond;       // what a clock may differ without a new stretch
constexpr std::size_t kMostUnwritten = 64;  // where the disk takes nothing, the last ones

TimeNs read(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<TimeNs>(time.tv_sec) * kSecond + static_cast<TimeNs>(time.tv_nsec);
}

}  // namespace

Clocks Clocks::now(const std::string& boot_id, TimeNs wall) {
  return {wall == 0 ? read(CLOCK_REALTIME) : wall, read(CLOCK_BOOTTIME), boot_id};
}

TimeNs ClockRecord::expected(const Clocks& now) const {
  const bool is_same = last_.steady > 0 && !now.boot_id.empty() && last_.boot_id == now.boot_id;
  return is_same && now.steady >= last_.steady ? last_.time + (now.steady - last_.steady) : 0;
}

void ClockRecord::settle(const Clocks& now, TimeNs time) {
  if (now.steady == 0) return;
  const TimeNs known = expected(now);
  const bool is_even = known > 0 && std::max(known, time) - std::min(known, time) <= kEven;
  if (began_ && is_even) return;
  began_ = true;
  last_ = {last_.number + 1, now.boot_id, now.steady, time, now.wall};
  if (unwritten_.size() == kMostUnwritten) unwritten_.erase(unwritten_.begin());
  unwritten_.push_back(last_);
}

}  // namespace ttmem::serve::history
