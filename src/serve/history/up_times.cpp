// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/up_times.hpp"

#include <algorithm>
#include <iterator>

namespace ttmem::serve::history {

void UpTimes::adopt(std::int64_t from_s, std::int64_t to_s) {
  if (from_s <= to_s) times_[from_s] = to_s;
}

void UpTimes::extend(std::int64_t now_s, bool again) {
  // A gap of less than a second cannot be told.
  if (times_.empty() || (again && now_s > last_s() + 1)) {
    times_[now_s] = now_s;
  } else {
    std::int64_t& to = times_.rbegin()->second;
    to = std::max(to, now_s);
  }
}

void UpTimes::forget_after(std::int64_t now_s) {
  times_.erase(times_.upper_bound(now_s), times_.end());
  for (auto& [from, to] : times_) to = std::min(to, now_s);
}

void UpTimes::shorten(std::size_t count) {
  while (times_.size() > count) times_.erase(times_.begin());
}

bool UpTimes::touches(std::int64_t from_s, std::int64_t to_s) const {
  auto next = times_.lower_bound(to_s);  // the first that begins too late
  return next != times_.begin() && std::prev(next)->second >= from_s;
}

}  // namespace ttmem::serve::history
