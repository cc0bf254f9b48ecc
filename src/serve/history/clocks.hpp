// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which clock the history goes by. The wall clock may be set, or be wrong from the start; the
// steady clock of a boot only goes on. What was decided about both is kept, by boot: so a jump of
// the wall clock is seen for what it is, also one that came while no daemon ran, and the time that
// went by since then is known exactly.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::serve::history {

using ledger::TimeNs;

// One moment by all clocks.
struct Clocks {
  TimeNs wall = 0;
  TimeNs steady = 0;    // since the machine was started, asleep or not; 0 = not known
  std::string boot_id;  // whose steady clock that is

  // The wall clock alone, as of a recording.
  Clocks(TimeNs now) : wall(now) {}  // NOLINT(google-explicit-constructor)
  Clocks(TimeNs now, TimeNs since_start, std::string boot)
      : wall(now), steady(since_start), boot_id(std::move(boot)) {}

  // The clocks of this machine; the wall clock may have been read already.
  static Clocks now(const std::string& boot_id, TimeNs wall = 0);
};

// From this moment on the history's time was the steady clock and so much more.
struct Stretch {
  std::uint64_t number = 0;  // counts on
  std::string boot_id;
  TimeNs steady = 0, time = 0;
  TimeNs wall = 0;  // what the clock on the wall said then
};

class ClockRecord {
 public:
  // The last stretch of the file.
  void adopt(Stretch last) { last_ = std::move(last); }
  // What time the steady clock says it is; 0: not known, as in a boot that is new to it.
  TimeNs expected(const Clocks& now) const;
  // It was decided what time it is. A new stretch begins with the daemon, and where that is not
  // what was expected.
  void settle(const Clocks& now, TimeNs time);

  // Those that the file does not have yet.
  const std::vector<Stretch>& unwritten() const { return unwritten_; }
  void written() { unwritten_.clear(); }

 private:
  Stretch last_;
  bool began_ = false;
  std::vector<Stretch> unwritten_;
};

}  // namespace ttmem::serve::history
