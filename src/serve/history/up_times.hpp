// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// When the daemon was there, in whole seconds, both ends included. A time without a row means
// "unchanged" within one of these, and "not known" outside.
#pragma once

#include <cstdint>
#include <map>

namespace ttmem::serve::history {

class UpTimes {
 public:
  void adopt(std::int64_t from_s, std::int64_t to_s);
  // The daemon is there now. `again`: after a time when it was not.
  void extend(std::int64_t now_s, bool again);
  void forget_after(std::int64_t now_s);
  void shorten(std::size_t count);

  // Was it there at some moment of [from, to)?
  bool touches(std::int64_t from_s, std::int64_t to_s) const;
  std::int64_t last_s() const { return times_.empty() ? 0 : times_.rbegin()->second; }
  const std::map<std::int64_t, std::int64_t>& all() const { return times_; }

 private:
  std::map<std::int64_t, std::int64_t> times_;  // from -> to
};

}  // namespace ttmem::serve::history
